package webhooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/webhooks"
	"github.com/lastmile-isp/lastmile/internal/egress"
)

// integrationsFile is the manual of integrators, relative to this package.
const integrationsFile = "../../docs/integrations.md"

// verified reports whether a message is ours. secret comes from the registration's answer.
func verified(header http.Header, body []byte, secret string, now time.Time) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	id, at := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(id + "." + at + "."))
	sum.Write(body)
	want := "v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil))
	for _, given := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(given), []byte(want)) {
			return true
		}
	}
	return false
}

// The example in the manual is the function above, and it takes our messages and no others.
func TestIntegrations_TheExampleVerifies(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile(integrationsFile)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("integrations_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(manual), "```go\n")
	example, _, found := strings.Cut(example, "```")
	if !found || !strings.Contains(string(source), "\n"+example) {
		t.Errorf("this test does not run the example of %s:\n%s", integrationsFile, example)
	}
	var header http.Header
	var got []byte
	s := server(t, func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		got, _ = io.ReadAll(r.Body)
	})
	c := client(t, webhooks.Config{Addresses: egress.Guard{Development: true}})
	if out := c.Send(t.Context(), call(s.URL)); out.Code != "" {
		t.Fatalf("%+v", out)
	}
	seconds, err := strconv.ParseInt(header.Get("webhook-timestamp"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	sent := time.Unix(seconds, 0)
	if !verified(header, got, present.Reveal(), sent) || !verified(header, got, former.Reveal(), sent) {
		t.Error("our message is refused")
	}
	if verified(header, append(got, ' '), present.Reveal(), sent) ||
		verified(header, got, "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", sent) ||
		verified(header, got, present.Reveal(), sent.Add(6*time.Minute)) {
		t.Error("a message is taken that is not ours, or old")
	}
}

// The manual lists the types that an endpoint can choose, and the ping.
func TestIntegrations_TypesAreComplete(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile(integrationsFile)
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\|").FindAllStringSubmatch(string(manual), -1) {
		documented = append(documented, m[1])
	}
	if diff := cmp.Diff(append(events.OutboxTypes(), events.OutboxPing), documented); diff != "" {
		t.Errorf("(-types +manual)\n%s", diff)
	}
}
