package taxgateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/gateways/taxgateway"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/egress"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/taxauthority"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is the instant of every test's clock.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// loopback is the network of the simulators.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// kit has a client in front of a running simulator.
type kit struct {
	*taxgateway.Client
	sim *taxauthority.Simulator
	by  taxgateway.Device
	log *bytes.Buffer
}

// newClient makes a client with a breaker of its own, which stops with the test.
func newClient(t *testing.T, log io.Writer, timeout time.Duration) *taxgateway.Client {
	t.Helper()
	manual := clock.NewManual(start)
	c := taxgateway.New(taxgateway.Config{
		Guard: breaker.New(breaker.Config{Clock: manual}), Addresses: egress.Guard{Inside: loopback}, Clock: manual,
		Timeout: timeout, Logger: slog.New(slog.NewJSONHandler(log, nil)),
	})
	t.Cleanup(c.Close)
	return c
}

// newKit starts a simulator that stops with the test.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{log: &bytes.Buffer{}}
	k.Client = newClient(t, k.log, 5*time.Second)
	k.sim = taxauthority.New(taxauthority.Config{Clock: clock.NewManual(start), Secret: "device-secret"})
	if err := k.sim.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.sim.Stop(context.Background()) })
	k.by = taxgateway.Device{Address: k.sim.URL(), Serial: "KRAMW001", Branch: "00", Secret: "device-secret"}
	return k
}

// faults sets those of the simulator.
func (k *kit) faults(t *testing.T, f taxauthority.Faults) {
	t.Helper()
	if err := k.sim.SetFaults(f); err != nil {
		t.Fatal(err)
	}
}

// kes is an amount in cents.
func kes(minor int64) money.Amount { return money.Of(minor, money.KES) }

// invoice is a sound document of KES 1160 with an id.
func invoice(id string) taxgateway.Document {
	return taxgateway.Document{
		ID: id, Kind: taxgateway.KindInvoice, Number: "ACME-0001", IssuedAt: start,
		Seller: taxgateway.Party{PIN: "P051234567A", Name: "Acme"},
		Buyer:  taxgateway.Party{PIN: "A012345678Z", Name: "Amina"},
		Lines: []taxgateway.Line{
			{Description: "Home", Quantity: "1", Net: kes(110000), Total: kes(127600)},
			{Description: "Discount", Quantity: "1", Net: kes(-10000), Total: kes(-11600)},
		},
		Net: kes(100000), Taxes: []taxgateway.Tax{{Name: "VAT", BasisPoints: 1600, Amount: kes(16000)}},
		Total: kes(116000),
	}
}

func TestSubmit_IsSignedOnceHoweverOftenItIsHandedOver(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	var first taxgateway.Signature
	for n := range 3 {
		out, err := k.Submit(t.Context(), k.by, invoice("one"))
		if err != nil || out.Signature == nil || out.Refusal != nil {
			t.Fatalf("%+v, %v", out, err)
		}
		if n == 0 {
			first = *out.Signature
		}
		if *out.Signature != first {
			t.Errorf("another signature %+v", out.Signature)
		}
	}
	found, err := k.Find(t.Context(), k.by, "one")
	if err != nil || found.Signature == nil || *found.Signature != first {
		t.Errorf("found %+v, %v", found, err)
	}
	list := k.sim.Documents()
	if len(list) != 1 || list[0].Total != "1160.00" || list[0].Times != 3 || list[0].SellerPIN != "P051234567A" ||
		list[0].BuyerPIN != "A012345678Z" || list[0].Device != "KRAMW001" || list[0].Branch != "00" {
		t.Errorf("signed %+v", list)
	}
	if first.ControlNumber == "" || !strings.Contains(first.Verification, first.ControlNumber) || first.At != start {
		t.Errorf("signature %+v", first)
	}
}

func TestSubmit_ARefusalHasTheGatewaysWordsAndIsForgotten(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for code, change := range map[string]func(d *taxgateway.Document){
		"buyer_pin_invalid":   func(d *taxgateway.Document) { d.Buyer.PIN = "12345" },
		"seller_pin_invalid":  func(d *taxgateway.Document) { d.Seller.PIN = "" },
		"amounts_differ":      func(d *taxgateway.Document) { d.Total = kes(116001) },
		"amount_invalid":      func(d *taxgateway.Document) { d.Net = kes(-1) },
		"original_unknown":    func(d *taxgateway.Document) { d.Original = "nothing" },
		"original_missing":    func(d *taxgateway.Document) { d.Kind = taxgateway.KindCancellation },
		"document_incomplete": func(d *taxgateway.Document) { d.Number = "" },
	} {
		d := invoice("one")
		change(&d)
		out, err := k.Submit(t.Context(), k.by, d)
		if err != nil || out.Refusal == nil || out.Refusal.Code != code || out.Refusal.Message == "" {
			t.Errorf("%s: %+v, %v", code, out, err)
		}
		if _, err := k.Find(t.Context(), k.by, "one"); !errors.Is(err, taxgateway.ErrUnknownDocument) {
			t.Errorf("%s: found a refused document: %v", code, err)
		}
	}
	if out, err := k.Submit(t.Context(), k.by, invoice("one")); err != nil || out.Signature == nil {
		t.Errorf("repaired: %+v, %v", out, err)
	}
}

func TestFind_TellsTheOutcomeOfALostAnswer(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]taxauthority.Faults{"lost": {LoseAnswers: 1}, "nonsense": {Garble: 1}} {
		k := newKit(t)
		k.faults(t, f)
		out, err := k.Submit(t.Context(), k.by, invoice("one"))
		if failure.CodeOf(err) != "tax_gateway_unavailable" ||
			out != (taxgateway.Outcome{}) {
			t.Fatalf("%s: %+v, %v", name, out, err)
		}
		found, err := k.Find(t.Context(), k.by, "one")
		if err != nil || found.Signature == nil {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
}

func TestSubmit_WithoutAnAnswerNobodyKnows(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.faults(t, taxauthority.Faults{Down: true})
	if _, err := k.Submit(t.Context(), k.by, invoice("one")); failure.CodeOf(err) != "tax_gateway_unavailable" {
		t.Errorf("down: %v", err)
	}
	k.faults(t, taxauthority.Faults{LatencyMs: 2000})
	slow := newClient(t, k.log, 50*time.Millisecond)
	if _, err := slow.Submit(t.Context(), k.by, invoice("one")); failure.CodeOf(err) != "tax_gateway_unavailable" {
		t.Errorf("slow: %v", err)
	}
	k.faults(t, taxauthority.Faults{})
	wrong := k.by
	wrong.Secret = "another secret"
	if _, err := k.Submit(t.Context(), wrong, invoice("one")); failure.CodeOf(err) != "tax_gateway_denied" {
		t.Errorf("wrong secret: %v", err)
	}
	if n := len(k.sim.Documents()); n != 0 {
		t.Errorf("%d documents are signed", n)
	}
	if text := k.log.String(); strings.Contains(text, "secret") || strings.Contains(text, "Amina") ||
		!strings.Contains(text, `"outcome":"unknown"`) {
		t.Errorf("log: %s", text)
	}
	if text := fmt.Sprintf("%v %+v %#v", k.by, k.by, k.by); strings.Contains(text, "device-secret") {
		t.Errorf("the secret is written: %s", text)
	}
}

// One organization types a wrong path at the host of a gateway that another one uses.
func TestSubmit_AWrongAddressClosesTheGatewayForNobodyElse(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	wrong := k.by
	wrong.Address += "/nowhere"
	for range 10 {
		if _, err := k.Submit(t.Context(), wrong, invoice("one")); failure.CodeOf(err) != "tax_gateway_unavailable" {
			t.Fatalf("at a wrong address: %v", err)
		}
	}
	if n := strings.Count(k.log.String(), `"operation":"submit"`); n != 10 {
		t.Errorf("%d calls are in the log", n)
	}
	if out, err := k.Submit(t.Context(), k.by, invoice("two")); err != nil || out.Signature == nil {
		t.Errorf("the right address: %+v, %v", out, err)
	}
}

// hostile answers every call with a status, headers and a body.
func hostile(t *testing.T, status int, location, body string) taxgateway.Device {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if location != "" {
			w.Header().Set("Location", location)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return taxgateway.Device{Address: s.URL, Serial: "S", Branch: "00", Secret: "s"}
}

func TestSubmit_AnAnswerThatIsNotCertainIsNoOutcome(t *testing.T) {
	t.Parallel()
	stolen := 0
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen++ }))
	t.Cleanup(thief.Close)
	signed := `{"status":"signed","controlNumber":%q,"verification":%q,"signedAt":"2026-03-02T09:00:00Z"}`
	for name, c := range map[string]struct {
		status         int
		location, body string
	}{
		"redirect":            {307, thief.URL, ""},
		"too large":           {200, "", strings.Repeat("a", 1<<20)},
		"no json":             {200, "", "<html>"},
		"empty":               {200, "", ""},
		"signed by an error":  {500, "", fmt.Sprintf(signed, "C1", "https://x")},
		"no control number":   {200, "", fmt.Sprintf(signed, "", "https://x")},
		"a control character": {200, "", fmt.Sprintf(signed, "C\x00", "https://x")},
		"a long number":       {200, "", fmt.Sprintf(signed, strings.Repeat("9", 65), "https://x")},
		"a huge code":         {200, "", fmt.Sprintf(signed, "C1", strings.Repeat("x", 301))},
		"no instant":          {200, "", `{"status":"signed","controlNumber":"C1","verification":"https://x"}`},
		"refused without why": {422, "", `{"status":"refused"}`},
		"refused with 200":    {200, "", `{"status":"refused","code":"x"}`},
		"another 404":         {404, "", `{"code":"no_such_page"}`},
	} {
		client := newClient(t, io.Discard, 5*time.Second)
		by := hostile(t, c.status, c.location, c.body)
		for what, call := range map[string]func() (taxgateway.Outcome, error){
			"submit": func() (taxgateway.Outcome, error) { return client.Submit(t.Context(), by, invoice("one")) },
			"find":   func() (taxgateway.Outcome, error) { return client.Find(t.Context(), by, "one") },
		} {
			out, err := call()
			if failure.CodeOf(err) != "tax_gateway_unavailable" ||
				out != (taxgateway.Outcome{}) {
				t.Errorf("%s, %s: %+v, %v", name, what, out, err)
			}
		}
	}
	if stolen > 0 {
		t.Error("a redirect was followed")
	}
}

func TestSubmit_TheWordsOfARefusalAreShortAndPlain(t *testing.T) {
	t.Parallel()
	client := newClient(t, io.Discard, 5*time.Second)
	by := hostile(t, 422, "", `{"status":"refused","code":"x","message":"a\u0007b`+strings.Repeat("é", 400)+`"}`)
	out, err := client.Submit(t.Context(), by, invoice("one"))
	if err != nil || out.Refusal == nil || len(out.Refusal.Message) > 500 ||
		!strings.HasPrefix(out.Refusal.Message, "a bé") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestCheck_AGatewayIsPublicWithTLSOrInsideWithoutAName(t *testing.T) {
	t.Parallel()
	client := newClient(t, io.Discard, time.Second)
	for address, ok := range map[string]bool{
		"https://gateway.example":             true,
		"https://gateway.example:8443/v1":     true,
		"https://196.201.214.200":             true,
		"http://127.0.0.1:8093":               true, // inside
		"http://gateway.example":              false,
		"http://196.201.214.200":              false,
		"http://localhost:8093":               false,
		"https://10.0.0.7":                    false,
		"https://169.254.169.254/latest":      false,
		"https://[::1]":                       false,
		"https://[::ffff:10.0.0.7]":           false,
		"https://100.64.1.1":                  false,
		"https://127.1":                       false,
		"https://0x7f000001":                  false,
		"https://2130706433":                  false,
		"https://[64:ff9b::7f00:1]":           false,
		"https://[2002:7f00:1::]":             false,
		"https://[::7f00:1]":                  false,
		"https://240.0.0.1":                   false,
		"https://198.18.0.1":                  false,
		"https://user:password@gateway.test":  false,
		"https://gateway.example?x=1":         false,
		"ftp://gateway.example":               false,
		"gateway.example":                     false,
		"":                                    false,
		"https://gateway.example/#fragment":   false,
		"javascript:alert(1)":                 false,
		"https://0.0.0.0":                     false,
		"https://[fd00::1]":                   false,
		"https://[fe80::1%25eth0]/documents":  false,
		"https://224.0.0.1":                   false,
		"http://127.0.0.1:8093/documents?x=1": false,
	} {
		if err := client.Check(address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A name may lead anywhere: what it says at the moment of the call decides.
func TestSubmit_ANameThatLeadsInsideIsNotCalled(t *testing.T) {
	t.Parallel()
	called := false
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	t.Cleanup(s.Close)
	manual := clock.NewManual(start)
	client := taxgateway.New(taxgateway.Config{Guard: breaker.New(breaker.Config{Clock: manual}), Clock: manual})
	t.Cleanup(client.Close)
	by := taxgateway.Device{Address: strings.Replace(s.URL, "127.0.0.1", "localhost", 1), Secret: "s"}
	_, err := client.Submit(t.Context(), by, invoice("one"))
	if failure.CodeOf(err) != "tax_gateway_unavailable" ||
		!strings.Contains(err.Error(), "a public address") || called {
		t.Errorf("called %t, %v", called, err)
	}
}
