"""What Spark jobs are made of: DataFrame in, DataFrame out, and what stands around it in each job's main.

Needs the standard library and pyspark alone, so that a zip carries it to a cluster (`bundle`).
"""
