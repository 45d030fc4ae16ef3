package totp_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/totp"
)

// standard is the secret of the examples in RFC 6238, appendix B.
var standard = []byte("12345678901234567890")

// TestCode_IsThatOfTheStandard: the last six digits of the eight in the examples.
func TestCode_IsThatOfTheStandard(t *testing.T) {
	t.Parallel()
	for unix, want := range map[int64]secrets.Text{
		59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037",
		20000000000: "353130",
	} {
		if got := totp.Code(standard, totp.Step(time.Unix(unix, 0))); got != want {
			t.Errorf("at %d: %s, want %s", unix, got.Reveal(), want.Reveal())
		}
	}
}

func TestMatch_TakesTheStepsAroundNowThatComeBehindTheLast(t *testing.T) {
	t.Parallel()
	now := time.Unix(1111111111, 0)
	at := totp.Step(now)
	for offset, want := range map[int64]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
		if step, right := totp.Match(standard, totp.Code(standard, at+offset), now, 0); right != want ||
			right && step != at+offset {
			t.Errorf("offset %d: step %d, %v", offset, step, right)
		}
	}
	for last, want := range map[int64]bool{at - 1: true, at: false, at + 1: false} {
		if _, right := totp.Match(standard, totp.Code(standard, at), now, last); right != want {
			t.Errorf("after the use of step %d: %v", last-at, right)
		}
	}
	for _, odd := range []secrets.Text{"", "0", "0504711", "05047a", "٠٥٠٤٧١"} {
		if _, right := totp.Match(standard, odd, now, 0); right {
			t.Errorf("%q is right", odd.Reveal())
		}
	}
}

func TestURI_IsReadByApplications(t *testing.T) {
	t.Parallel()
	secret := totp.NewSecret()
	if len(secret) != 20 || string(secret) == string(totp.NewSecret()) {
		t.Fatal("a secret is short or made twice")
	}
	uri, err := url.Parse(totp.URI(secret, "Acme Networks & Co", "ada+1@acme.test").Reveal())
	if err != nil {
		t.Fatal(err)
	}
	q := uri.Query()
	if uri.Scheme != "otpauth" || uri.Host != "totp" || uri.Path != "/Acme Networks & Co:ada+1@acme.test" ||
		q.Get("secret") != totp.Text(secret).Reveal() || len(q.Get("secret")) != 32 || q.Get("digits") != "6" ||
		q.Get("period") != "30" || q.Get("issuer") != "Acme Networks & Co" || q.Get("algorithm") != "SHA1" {
		t.Errorf("%s", uri)
	}
}
