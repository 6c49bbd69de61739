"""What several commands say."""

from anabranch.sentences.template import Phrase

INTERRUPTED = Phrase("interrupted: the output covers what was finished until then")
