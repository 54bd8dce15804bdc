"""Traffic for the orders application, and the judge that proves from the topics alone that no record went wrong."""
