"""Which build of a release runs, for a deployer that does not know it."""


class WithoutBuilds:
    """A deployer whose `Deployment.build` is empty: an undo has nothing to compare."""

    def check_build(self, instance: str, release: str, build: str) -> None:
        """Nothing: no undo card of this deployer has a build."""
