"""Secure ports, and the API server that they ask about users and rights."""

import asyncio
import json

from aiohttp import web

from podium.serving.options import (
    AuthenticationOptions,
    AuthorizationOptions,
    ServingOptions,
    TlsOptions,
)
from podium.serving.reviews import ACCESS_REVIEWS, TOKEN_REVIEWS
from tests.support.serving import Running

CONFIG_MAP = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
MONITOR = {"username": "monitor", "groups": ["g"]}


class Reviewer:
    """An API server that knows tokens and rights; tests change how it answers."""

    def __init__(self):
        self.users = {"good": MONITOR}
        self.allowed = {"monitor"}
        self.config_map = {}
        self.asked = []
        self.lie = None  # the whole answer to any review

    async def __aenter__(self):
        app = web.Application()
        app.router.add_post(TOKEN_REVIEWS, self._review_token)
        app.router.add_post(ACCESS_REVIEWS, self._review_access)
        app.router.add_get(CONFIG_MAP, self._show)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_):
        await self._runner.cleanup()

    async def _show(self, request):
        return web.json_response({"kind": "ConfigMap", "data": self.config_map})

    async def _review_token(self, request):
        spec = (await request.json())["spec"]
        self.asked.append(("token", spec["token"]))
        if self.lie is not None:
            return self.lie()
        user = self.users.get(spec["token"])
        status = {"authenticated": True, "user": user} if user else {"error": "unknown"}
        return web.json_response({"kind": "TokenReview", "status": status})

    async def _review_access(self, request):
        spec = (await request.json())["spec"]
        self.asked.append(("access", spec["user"], spec["nonResourceAttributes"]))
        if self.lie is not None:
            return self.lie()
        status = {"allowed": spec["user"] in self.allowed}
        return web.json_response({"kind": "SubjectAccessReview", "status": status})


def kubeconfig(folder, url):
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "it", "cluster": {"server": url}}],
        "users": [{"name": "me", "user": {}}],
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "me"}}],
        "current-context": "it",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(config))
    return str(path)


def options(tls=None, authentication=None, authorization=None):
    return ServingOptions(
        bind_address="127.0.0.1",
        secure_port=0,
        tls=tls or TlsOptions(),
        authentication=authentication or AuthenticationOptions(skips_lookup=True),
        authorization=authorization or AuthorizationOptions(),
    )


def delegating(path, tls=None, **authentication):
    return options(
        tls,
        authentication=AuthenticationOptions(kubeconfig=path, **authentication),
        authorization=AuthorizationOptions(kubeconfig=path),
    )


def with_reviewer(folder, scenario, **authentication):
    async def run():
        async with Reviewer() as reviewer:
            reviewer.folder = folder
            choice = delegating(kubeconfig(folder, reviewer.url), **authentication)
            async with Running().secured(choice) as running:
                await scenario(running, reviewer)

    asyncio.run(run())


def bearer(token):
    return {"Authorization": f"Bearer {token}"}
