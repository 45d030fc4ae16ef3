// Package totp makes and checks time-based one-time passwords: RFC 6238 with the parameters that every authenticator
// application knows (SHA-1, six digits, steps of 30 seconds).
package totp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // HMAC-SHA-1 is what the standard and the applications have
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// Parameters that an application is told with the secret.
const (
	Period = 30 * time.Second
	Digits = 6
	// Skew is how many steps a clock may go before or behind ours.
	Skew = 1
	// secretSize is that of a SHA-1 hash, in bytes (RFC 4226, 4).
	secretSize = 20
)

// base32Form is that in which applications take a secret: without padding.
var base32Form = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewSecret makes the secret of a second factor.
func NewSecret() []byte {
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret) // never fails
	return secret
}

// Text is a secret as people type it into an application.
func Text(secret []byte) secrets.Text { return secrets.Text(base32Form.EncodeToString(secret)) }

// URI is a secret as applications read it from a QR code, with the names of the issuer and of the account
// (the key URI format of authenticator applications).
func URI(secret []byte, issuer, account string) secrets.Text {
	return secrets.Text(fmt.Sprintf("otpauth://totp/%s:%s?secret=%s&issuer=%s&algorithm=SHA1&digits=%d&period=%d",
		escaped(issuer), escaped(account), Text(secret).Reveal(), escaped(issuer), Digits, int(Period/time.Second)))
}

// escaped writes a name for both parts of an address. Applications read a plus sign as itself and not as a space.
func escaped(name string) string { return strings.ReplaceAll(url.QueryEscape(name), "+", "%20") }

// Step is the number of the step that an instant lies in.
func Step(at time.Time) int64 { return at.Unix() / int64(Period/time.Second) }

// Code is the code of a step (RFC 4226, 5.3).
func Code(secret []byte, step int64) secrets.Text {
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(step)) //nolint:gosec // times of before 1970 do not occur
	h := hmac.New(sha1.New, secret)
	_, _ = h.Write(counter[:]) // a hash takes everything
	sum := h.Sum(nil)
	offset := sum[len(sum)-1] & 0xf
	number := binary.BigEndian.Uint32(sum[offset:]) & 0x7fffffff
	return secrets.Text(fmt.Sprintf("%0*d", Digits, number%1_000_000))
}

// Match finds the step whose code was given, of those around an instant that come behind the last one that was used.
// It compares with all of them, so that its time does not show which it was.
func Match(secret []byte, code secrets.Text, now time.Time, last int64) (step int64, right bool) {
	for s := Step(now) - Skew; s <= Step(now)+Skew; s++ {
		same := subtle.ConstantTimeCompare([]byte(Code(secret, s).Reveal()), []byte(code.Reveal())) == 1
		if same && s > last {
			step, right = s, true
		}
	}
	return step, right
}
