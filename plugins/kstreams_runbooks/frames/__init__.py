"""The parts of Spark jobs: DataFrame in, DataFrame out, and the code around them in each job's main.

They need only the standard library and pyspark: a zip carries them to a cluster (`bundle`).
"""
