"""Asks a person one question, and prints the answer. Needs `pip install sdk/python`."""

from sayso import QuestionRejectedError, sync

try:
    answer = sync.ask("Where should the backup go?", options=["NAS", "S3"], title="Nightly backup")
except QuestionRejectedError as error:
    print("no answer:", error.message)
else:
    print("answered:", answer)
