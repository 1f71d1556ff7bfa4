# One replica. Build and start it: docker build -t attention-lab . && docker run -p 8501:8501 --read-only --tmpfs /tmp attention-lab
# PyTorch's own index has a CPU build, a tenth of the size of the build with CUDA that other indexes have for Linux.
# If it can't be reached, name another index that has the CPU build: --build-arg TORCH_INDEX=...
FROM python:3.11-slim AS installed
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY requirements.txt .
RUN python -m venv /opt/venv \
 && /opt/venv/bin/pip install --no-cache-dir --index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)" \
 && /opt/venv/bin/pip install --no-cache-dir -r requirements.txt
WORKDIR /source
COPY app.py pyproject.toml README.md LICENSE ./
COPY .streamlit .streamlit
COPY attention attention
COPY pages pages
RUN /opt/venv/bin/pip install --no-cache-dir --no-deps .

FROM python:3.11-slim
RUN useradd --system --uid 10001 --create-home --home-dir /home/lab lab
COPY --from=installed /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1
# Streamlit reads its settings from the working directory: the folder of app.py in the installed package.
RUN ln -s "$(python -c 'from attention.serving import launch; print(launch.app_file().parent)')" /app
WORKDIR /app
USER lab
EXPOSE 8501
# Healthy once the app is imported, unhealthy if its work makes no progress (serving/health.py).
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/healthz', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.port=8501", "--server.address=0.0.0.0", "--server.headless=true"]
