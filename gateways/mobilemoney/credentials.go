package mobilemoney

import (
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Credentials is the set of an organization or of the platform. Its methods hide the secrets from logs and from fmt.
type Credentials struct {
	ConsumerKey    string
	ConsumerSecret string
	ShortCode      string
	Passkey        string
}

// LogValue shows the shortcode only.
func (c Credentials) LogValue() slog.Value {
	return slog.GroupValue(slog.String("short_code", c.ShortCode))
}

// String shows the shortcode only.
func (c Credentials) String() string { return "credentials of " + c.ShortCode }

// GoString hides the secrets from %#v, too.
func (c Credentials) GoString() string { return c.String() }

// Fingerprint identifies the set without revealing it: tokens are cached under it. A changed secret gives another
// value.
func (c Credentials) Fingerprint() [sha256.Size]byte {
	return sha256.Sum256([]byte(c.ConsumerKey + "\x00" + c.ConsumerSecret))
}

// check fails with the missing fields that a token or a registration needs.
func (c Credentials) check() error { return c.faults().Err() }

// checkPrompting also requires the passkey, which is part of the password of prompts and status queries.
func (c Credentials) checkPrompting() error {
	faults := c.faults()
	faults.Check(c.Passkey != "", "passkey", "is required")
	return faults.Err()
}

// faults collects the missing fields that every call needs.
func (c Credentials) faults() failure.Faults {
	var faults failure.Faults
	faults.Check(c.ConsumerKey != "", "consumerKey", "is required")
	faults.Check(c.ConsumerSecret != "", "consumerSecret", "is required")
	faults.Check(c.ShortCode != "", "shortcode", "is required")
	return faults
}

// stampLayout is the provider's YYYYMMDDHHmmss.
const stampLayout = "20060102150405"

// eastAfrica is the provider's zone: UTC+3 all year.
var eastAfrica = time.FixedZone("EAT", 3*60*60)

// password makes base64(shortcode + passkey + timestamp) and its timestamp, in East Africa Time.
func (c Credentials) password(now time.Time) (password, timestamp string) {
	timestamp = now.In(eastAfrica).Format(stampLayout)
	return base64.StdEncoding.EncodeToString([]byte(c.ShortCode + c.Passkey + timestamp)), timestamp
}
