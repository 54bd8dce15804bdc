"""The logins of Airflow that are the ids by which it knows its users."""

from airflow.sdk.configuration import conf

_SIMPLE = "airflow.api_fastapi.auth.managers.simple.simple_auth_manager.SimpleAuthManager"
# Airflow's default is this auth manager with this user: a worker whose configuration has nothing else does not know
# whether the API server has another one.
_DEFAULT = ["admin:admin"]


def own_ids() -> frozenset[str]:
    """The users of SimpleAuthManager, whose ids are their logins; none under any other auth manager."""
    users = [one.strip() for one in conf.get("core", "simple_auth_manager_users", fallback="").split(",")]
    if conf.get("core", "auth_manager", fallback="") != _SIMPLE or users == _DEFAULT:
        return frozenset()
    return frozenset(one.partition(":")[0] for one in users if one)
