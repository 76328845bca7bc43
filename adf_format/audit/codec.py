"""Brotli, in both directions, with bounded memory.

A blob of 300 bytes may hold 200 MB, so reading is streamed and limited. The decoder of the `brotli` package
raises nothing when a stream ends too early, and says the same for damage and for bytes after the end; both cases
are told apart here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

import brotli

from adf_format.audit.failures import NotBrotliError, TooLargeError, TrailingBytesError, TruncatedError

QUALITY = 5
WINDOW = 22
PIECE = 256 * 1024


def compress(text: str, quality: int = QUALITY) -> bytes:
    """Compress JSON text (AUD-011); any quality from 0 to 11 is a valid snapshot.

    :raises UnicodeEncodeError: the text holds a lone surrogate, which `javascript_json` never writes
    """
    return bytes(brotli.compress(text.encode(), quality=quality, lgwin=WINDOW))


def decompress(chunks: Iterable[bytes], *, limit_bytes: int) -> Iterator[bytes]:
    """Decompress a stream piece by piece; only when the iterator ends without an error was it whole.

    :param chunks: the stream in pieces; bytes after the end are told from damage only if it can be iterated twice
    :param limit_bytes: bytes of output after which to give up; up to one piece (about 400 KB) more may be yielded
    :raises NotBrotliError: damage, at the latest where it was met
    :raises TruncatedError: the stream does not end
    :raises TrailingBytesError: bytes follow its end
    :raises TooLargeError: the output exceeds the limit
    """
    decoder = brotli.Decompressor()
    total = 0
    for index, chunk in enumerate(chunks):
        if chunk and decoder.is_finished():
            raise TrailingBytesError("bytes follow the end of the brotli stream")
        try:
            for piece in _feed(decoder, chunk):
                total += len(piece)
                if total > limit_bytes:
                    raise TooLargeError(f"more than {limit_bytes} bytes when decompressed")
                yield piece
        except brotli.error:
            if (yield from _until_damage(chunks, index, total, limit_bytes)):
                raise TrailingBytesError("bytes follow the end of the brotli stream") from None
            raise NotBrotliError("not a brotli stream, or damaged inside") from None
    if not decoder.is_finished():
        raise TruncatedError("the brotli stream ends too early")


def decompress_all(chunks: Iterable[bytes], *, limit_bytes: int) -> bytes:
    """Decompress a whole stream into memory; errors as in `decompress`."""
    return b"".join(decompress(chunks, limit_bytes=limit_bytes))


def _feed(decoder: brotli.Decompressor, chunk: bytes) -> Iterator[bytes]:
    # the decoder may accept more input while output of the last is still pending: empty input fetches it
    piece = decoder.process(chunk, output_buffer_limit=PIECE)
    while piece or not decoder.can_accept_more_data():
        if piece:
            yield piece
        if decoder.is_finished():
            return
        piece = decoder.process(b"", output_buffer_limit=PIECE)


def _until_damage(chunks: Iterable[bytes], failed: int, known: int, limit_bytes: int) -> Generator[bytes, None, bool]:
    """Yield what the chunk that the decoder refused holds before the damage: fed again, that chunk byte by byte.

    :param known: bytes of output that were yielded already
    :return: whether the stream ends inside that chunk
    """
    decoder = brotli.Decompressor()
    total = 0
    try:
        for index, chunk in enumerate(chunks):
            step = 1 if index == failed else max(1, len(chunk))
            for start in range(0, len(chunk), step):
                if decoder.is_finished():
                    return True
                for piece in _feed(decoder, chunk[start : start + step]):
                    total += len(piece)
                    if total > limit_bytes:
                        return False
                    if total > known:
                        yield piece[max(0, len(piece) - (total - known)) :]
            if index == failed:
                return bool(decoder.is_finished())
    except brotli.error:
        pass
    return False
