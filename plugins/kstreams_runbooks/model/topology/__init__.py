"""A topology as values: operators, an application's declaration of it, and a change."""
