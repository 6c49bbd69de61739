"""The sentences that commands print, one module for each command: templates with named values, and nothing else.

Modules that choose a sentence import its module and fill the template in. So one can proof-read all that a command
says, and tests/test_sentences.py fills every template with values at both ends of their ranges.
"""

from anabranch.sentences.template import Phrase, Sentence

__all__ = ["Phrase", "Sentence"]
