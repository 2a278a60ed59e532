"""The word list that the tests use as keys: Debian's wamerican, about 104,000 words."""

PATH = '/usr/share/dict/american-english'


def read_words():
    with open(PATH, encoding='utf-8') as file:
        words = file.read().split('\n')
    return list(dict.fromkeys(filter(None, words)))
