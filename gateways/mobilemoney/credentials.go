package mobilemoney

import (
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"time"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Credentials is one set, of an organization or of the platform. It hides its secrets from logs and from fmt.
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

// GoString shows the shortcode only.
func (c Credentials) GoString() string { return c.String() }

// Fingerprint identifies the set without revealing it: a token belongs to it. A changed secret is another set.
func (c Credentials) Fingerprint() [sha256.Size]byte {
	return sha256.Sum256([]byte(c.ConsumerKey + "\x00" + c.ConsumerSecret))
}

// check names what is missing for a token and a registration.
func (c Credentials) check() error { return c.faults().Err() }

// checkPrompting also needs what prompts and their queries are signed with.
func (c Credentials) checkPrompting() error {
	faults := c.faults()
	faults.Check(c.Passkey != "", "passkey", "is required")
	return faults.Err()
}

// faults names what is missing of the common part.
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

// password is base64(shortcode + passkey + timestamp), with its timestamp in East Africa Time.
func (c Credentials) password(now time.Time) (password, timestamp string) {
	timestamp = now.In(eastAfrica).Format(stampLayout)
	return base64.StdEncoding.EncodeToString([]byte(c.ShortCode + c.Passkey + timestamp)), timestamp
}
