# One replica. Build and start it: docker build -t attention-lab . && docker run -p 8501:8501 --read-only --tmpfs /tmp attention-lab
# PyTorch's own index has a build for CPUs alone, a tenth of the size of the one with CUDA that other indexes have for Linux.
# Where it can't be reached, name another place that has it: --build-arg TORCH_INDEX=...
FROM python:3.11-slim AS installed
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY requirements.txt .
RUN python -m venv /opt/venv \
 && /opt/venv/bin/pip install --no-cache-dir --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)" \
 && /opt/venv/bin/pip install --no-cache-dir -r requirements.txt

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home --home-dir /home/lab lab
COPY --from=installed /opt/venv /opt/venv
WORKDIR /app
COPY app.py pyproject.toml ./
COPY .streamlit .streamlit
COPY attention attention
COPY pages pages
RUN /opt/venv/bin/python -m compileall -q attention pages app.py
USER lab
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1
EXPOSE 8501
# Ready once what scripts need is imported; no longer where work stands still (serving/health.py).
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/healthz', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.port=8501", "--server.address=0.0.0.0", "--server.headless=true"]
