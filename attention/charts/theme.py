QUERY = "#0b84f3"
KEY = "#12b886"
LOG_FLOOR = 1e-4
ROW_HEIGHT = 150
FOCUS_HEIGHT = 430


def plotly_scale():
    return "Inferno"
