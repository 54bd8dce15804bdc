"""The faults of the settings files next to the fleet's folders: they are about all applications."""

from kstreams_runbooks.errors import BadInput


def settings_problems() -> list[str]:
    """One sentence for each file that cannot be used: who is notified, and how the fleet is checked."""
    from kstreams_runbooks.fleet.notifications import notification_settings
    from kstreams_runbooks.watch.settings import check_settings

    found = []
    for read in (notification_settings, check_settings):
        try:
            read()
        except BadInput as error:
            found.append(str(error))
    return found
