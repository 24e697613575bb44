#!/usr/bin/env python3
"""Serves a folder with a Python framework, as in its manual, for frameworks without a command.

    serve.py FRAMEWORK FOLDER PORT

On 127.0.0.1, until it is killed. RealServer.swift starts it.
"""

import os
import sys

framework, folder, port = sys.argv[1], sys.argv[2], int(sys.argv[3])


def aiohttp():
    from aiohttp import web

    app = web.Application()
    app.router.add_static("/", folder, show_index=True)
    web.run_app(app, host="127.0.0.1", port=port)


def django():
    from django.conf import settings
    from django.core.management import execute_from_command_line
    from django.urls import re_path
    from django.views.static import serve

    options = {"document_root": folder, "show_indexes": True}
    urls = [re_path(r"^(?P<path>.*)$", serve, options)]
    settings.configure(DEBUG=True, ALLOWED_HOSTS=["*"], ROOT_URLCONF=tuple(urls))
    execute_from_command_line(["", "runserver", "--noreload", f"127.0.0.1:{port}"])


def flask():
    from flask import Flask, send_file
    from werkzeug.utils import safe_join

    app = Flask(__name__)

    @app.get("/<path:path>")
    def file(path):
        return send_file(safe_join(folder, path))

    app.run("127.0.0.1", port)


def sanic():
    from sanic import Sanic

    app = Sanic("files")
    app.static("/", folder, use_content_range=True)
    app.run("127.0.0.1", port, single_process=True, motd=False)


def starlette():
    import uvicorn
    from starlette.applications import Starlette
    from starlette.responses import FileResponse
    from starlette.routing import Route

    def file(request):
        return FileResponse(os.path.join(folder, request.path_params["path"]))

    app = Starlette(routes=[Route("/{path:path}", file)])
    uvicorn.run(app, host="127.0.0.1", port=port)


def tornado():
    from tornado import ioloop, web

    app = web.Application([(r"/(.*)", web.StaticFileHandler, {"path": folder})])
    app.listen(port, "127.0.0.1")
    ioloop.IOLoop.current().start()


globals()[framework]()
