package inspect

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// A segment of an address is any text in one form: letters and digits of ASCII, "-", "_" and "."
// stay, but for a full stop at the beginning, and each other byte is "~" and two hexadecimal
// digits. The empty text is "~". So there is no "/", no "..", and nothing that a browser or a proxy
// has its own mind about.

const digits = "0123456789ABCDEF"

func plain(c byte, first bool) bool {
	switch {
	case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '-', c == '_':
		return true
	}
	return c == '.' && !first
}

// escape returns the segment of a text.
func escape(text string) string {
	if text == "" {
		return "~"
	}
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; plain(c, i == 0) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'~', digits[c>>4], digits[c&15]})
		}
	}
	return b.String()
}

// unescape returns the text of a segment, and false for what escape does not return.
func unescape(segment string) (text string, ok bool) {
	if segment == "~" {
		return "", true
	}
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		if c != '~' {
			b.WriteByte(c)
			continue
		}
		if i+2 >= len(segment) {
			return "", false
		}
		n, err := strconv.ParseUint(segment[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(n))
		i += 2
	}
	text = b.String()
	return text, escape(text) == segment
}

// A sealer encrypts keys, each always in the same way: the nonce is a digest of the text, as in
// SIV (P. Rogaway and T. Shrimpton, Deterministic Authenticated-Encryption, EUROCRYPT 2006).
type sealer struct {
	digest []byte // the key of the digest
	block  cipher.Block
}

// newSealer returns a sealer by a secret, nil for none.
func newSealer(secret []byte) *sealer {
	if len(secret) == 0 {
		return nil
	}
	key := sha256.Sum256(secret)
	derive := func(what string) []byte {
		m := hmac.New(sha256.New, key[:])
		m.Write([]byte(what))
		return m.Sum(nil)
	}
	block, err := aes.NewCipher(derive("encryption"))
	if err != nil {
		panic(err) // the length of the key is right
	}
	return &sealer{derive("digest"), block}
}

// of returns the digest of a text.
func (s *sealer) of(text string) []byte {
	m := hmac.New(sha256.New, s.digest)
	m.Write([]byte(text))
	return m.Sum(nil)[:aes.BlockSize]
}

// seal returns a text encrypted, after its digest, in hexadecimal digits.
func (s *sealer) seal(text string) string {
	b := append(s.of(text), text...)
	cipher.NewCTR(s.block, b[:aes.BlockSize]).XORKeyStream(b[aes.BlockSize:], b[aes.BlockSize:])
	return hex.EncodeToString(b)
}

// open is the reverse of seal, and false for what it does not return.
func (s *sealer) open(sealed string) (text string, ok bool) {
	b, err := hex.DecodeString(sealed)
	if err != nil || len(b) < aes.BlockSize {
		return "", false
	}
	cipher.NewCTR(s.block, b[:aes.BlockSize]).XORKeyStream(b[aes.BlockSize:], b[aes.BlockSize:])
	text = string(b[aes.BlockSize:])
	return text, hmac.Equal(s.of(text), b[:aes.BlockSize]) && s.seal(text) == sealed
}

// longest is how long a key is at most that has an address.
const longest = 1 << 10

// keySegment returns the segment of a key, as Row.Key has it, and false if that is too long.
func (h *handler) keySegment(key string) (string, bool) {
	if len(key) > longest {
		return "", false
	}
	if h.keys != nil {
		return h.keys.seal(key), true
	}
	return escape(key), true
}

// keyOf is the reverse of keySegment.
func (h *handler) keyOf(segment string) (string, bool) {
	if h.keys != nil {
		return h.keys.open(segment)
	}
	return unescape(segment)
}

// shownKey returns what is shown of a key.
func (h *handler) shownKey(key string) string {
	if h.keys != nil {
		return hex.EncodeToString(h.keys.of(key)[:8])
	}
	return printable(key, 200)
}
