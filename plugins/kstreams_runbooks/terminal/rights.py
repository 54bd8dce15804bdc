"""`kstreams-runbooks rights`: what a login has to be allowed on a Kafka cluster."""

import click


@click.command("rights")
def rights_command() -> None:
    """The page of all rights as Markdown: every call to Kafka with the right that it needs (docs/rights.md)."""
    from kstreams_runbooks.present.rights_page import rights_page
    from kstreams_runbooks.rules import rights

    click.echo(rights_page(rights()), nl=False)
