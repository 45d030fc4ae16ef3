package mobilemoney_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// stkBody makes the callback of a successful prompt with the given metadata items.
func stkBody(items string) string {
	return `{"Body":{"stkCallback":{"MerchantRequestID":"m-1","CheckoutRequestID":"c-1","ResultCode":0,` +
		`"ResultDesc":"ok","CallbackMetadata":{"Item":[` + items + `]}}}}`
}

// c2bBodyText makes a confirmation with the given amount and extra fields.
func c2bBodyText(amount, more string) string {
	return `{"TransactionType":"Pay Bill","TransID":"ABC123XYZ9","TransTime":"20260302120000","TransAmount":` + amount +
		`,"BusinessShortCode":"600100","BillRefNumber":" acme-0001 ","MSISDN":"254700000001"` + more + `}`
}

func TestParseSTKCallback_FormsThatOccur(t *testing.T) {
	t.Parallel()
	paid := mobilemoney.STKCallback{
		MerchantRequestID: "m-1", CheckoutRequestID: "c-1", ResultCode: "0", ResultDesc: "ok",
		ReceiptNumber: "ABC123XYZ9", Amount: money.Major(1, money.KES), PaidAt: start, Phone: "254700000001",
	}
	bare := mobilemoney.STKCallback{
		MerchantRequestID: "m-1", CheckoutRequestID: "c-1", ResultCode: "0", ResultDesc: "ok",
	}
	rest := `,{"Name":"Balance"},{"Name":"TransactionDate","Value":20260302120000},` +
		`{"Name":"PhoneNumber","Value":254700000001}`
	for name, c := range map[string]struct {
		body string
		want mobilemoney.STKCallback
	}{
		"live name, 1.00": {
			stkBody(`{"Name":"Amount","Value":1.00},{"Name":"MpesaReceiptNumber","Value":"ABC123XYZ9"}` + rest), paid,
		},
		"spec name, 1": {
			stkBody(`{"Name":"Amount","Value":1},{"Name":"MobileMoneyReceiptNumber","Value":"ABC123XYZ9"}` + rest),
			paid,
		},
		"texts": {
			stkBody(`{"Name":"Amount","Value":"1.0"},{"Name":"MpesaReceiptNumber","Value":"ABC123XYZ9"},` +
				`{"Name":"Balance","Value":null},{"Name":"TransactionDate","Value":"20260302120000"},` +
				`{"Name":"PhoneNumber","Value":"254700000001"}`),
			paid,
		},
		"exponents": {
			stkBody(`{"Name":"Amount","Value":1E0},{"Name":"MpesaReceiptNumber","Value":"ABC123XYZ9"},` +
				`{"Name":"TransactionDate","Value":2.0260302120000E13},` +
				`{"Name":"PhoneNumber","Value":2.54700000001E11}`),
			paid,
		},
		"both names agree": {
			stkBody(`{"Name":"Amount","Value":1},{"Name":"MpesaReceiptNumber","Value":"ABC123XYZ9"},` +
				`{"Name":"MobileMoneyReceiptNumber","Value":"ABC123XYZ9"}` + rest),
			paid,
		},
		"unknown items": {
			stkBody(`{"Name":"Amount","Value":1},{"Name":"New","Value":{"a":[1]}},` +
				`{"Name":"MpesaReceiptNumber","Value":"ABC123XYZ9"}` + rest),
			paid,
		},
		"no receipt":         {stkBody(``), bare},
		"unreadable date":    {stkBody(`{"Name":"TransactionDate","Value":99}`), bare},
		"result code a text": {strings.Replace(stkBody(``), `"ResultCode":0`, `"ResultCode":"0"`, 1), bare},
	} {
		got, err := mobilemoney.ParseSTKCallback([]byte(c.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestParseSTKCallback_Refuses(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing":       ``,
		"not JSON":      `<xml>`,
		"no callback":   `{"Body":{}}`,
		"no id":         `{"Body":{"stkCallback":{"ResultCode":0}}}`,
		"no result":     `{"Body":{"stkCallback":{"CheckoutRequestID":"c"}}}`,
		"two documents": stkBody(``) + stkBody(``),
		"two receipts": stkBody(
			`{"Name":"MpesaReceiptNumber","Value":"A"},{"Name":"MobileMoneyReceiptNumber","Value":"B"}`),
		"two amounts":      stkBody(`{"Name":"Amount","Value":1},{"Name":"Amount","Value":2}`),
		"part of a cent":   stkBody(`{"Name":"Amount","Value":1.005}`),
		"negative amount":  stkBody(`{"Name":"Amount","Value":-1}`),
		"no amount at all": stkBody(`{"Name":"Amount","Value":0}`),
		"endless exponent": stkBody(`{"Name":"Amount","Value":1e999999999}`),
		"too large":        stkBody(`{"Name":"x","Value":"` + strings.Repeat("x", 300_000) + `"}`),
	} {
		if c, err := mobilemoney.ParseSTKCallback([]byte(body)); err == nil {
			t.Errorf("%s: taken as %#v", name, c)
		}
	}
}

func TestParseC2B_FormsThatOccur(t *testing.T) {
	t.Parallel()
	want := mobilemoney.C2B{
		TransactionType: "Pay Bill", ReceiptNumber: "ABC123XYZ9", PaidAt: start, Amount: money.Of(9950, money.KES),
		ShortCode: "600100", BillRef: "acme-0001", MSISDN: "254700000001",
	}
	numbers := strings.NewReplacer(`"600100"`, `600100`, `"254700000001"`, `254700000001`, `"20260302120000"`,
		`20260302120000`)
	for name, body := range map[string]string{
		"decimal text":   c2bBodyText(`"99.50"`, ``),
		"number":         c2bBodyText(`99.5`, ``),
		"all as numbers": numbers.Replace(c2bBodyText(`99.50`, ``)),
		"nulls":          c2bBodyText(`"99.50"`, `,"InvoiceNumber":null,"FirstName":null,"OrgAccountBalance":{}`),
	} {
		got, err := mobilemoney.ParseC2B([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestParseC2B_MaskedPayerIdentifiesNobody(t *testing.T) {
	t.Parallel()
	for _, msisdn := range []string{
		"2547*****126", "d3f1a0b2c3d4e5f60718293a4b5c6d7e8f901234567890abcdef1234567890ab", "",
	} {
		body := strings.Replace(c2bBodyText(`"1.00"`, ``), "254700000001", msisdn, 1)
		c, err := mobilemoney.ParseC2B([]byte(body))
		if phone, clear := c.Phone(); err != nil || clear || c.MSISDN != msisdn {
			t.Errorf("%q: phone %q, %v, error %v", msisdn, phone, clear, err)
		}
	}
}

func TestParseC2B_Refuses(t *testing.T) {
	t.Parallel()
	good := c2bBodyText(`"1.00"`, ``)
	for name, body := range map[string]string{
		"nothing":         ``,
		"a list":          `[]`,
		"no receipt":      strings.Replace(good, "ABC123XYZ9", "", 1),
		"no shortcode":    strings.Replace(good, "600100", "", 1),
		"no amount":       c2bBodyText(`null`, ``),
		"zero":            c2bBodyText(`"0.00"`, ``),
		"negative":        c2bBodyText(`"-5"`, ``),
		"part of a cent":  c2bBodyText(`"1.001"`, ``),
		"words":           c2bBodyText(`"one"`, ``),
		"thousands":       c2bBodyText(`"1,000.00"`, ``),
		"beyond counting": c2bBodyText(`"99999999999999999999"`, ``),
	} {
		if c, err := mobilemoney.ParseC2B([]byte(body)); err == nil {
			t.Errorf("%s: taken as %#v", name, c)
		}
	}
}

func TestParseC2B_SimulatedPaybill(t *testing.T) {
	t.Parallel()
	k := newKit(t, provider.Config{})
	if err := k.RegisterURLs(t.Context(), creds,
		mobilemoney.URLs{Confirmation: k.hook.URL + "/c", Validation: k.hook.URL + "/v"}); err != nil {
		t.Fatal(err)
	}
	k.faults(provider.Faults{MaskMSISDN: true})
	_, err := k.sim.Pay(t.Context(), provider.Paybill{ShortCode: "600100", MSISDN: payer, BillRefNumber: " acme-0001",
		Amount: provider.Amount{Amount: money.Of(9950, money.KES)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v", "/c"} {
		bodies := k.received(path)
		if len(bodies) != 1 {
			t.Fatalf("%d messages to %s", len(bodies), path)
		}
		c, err := mobilemoney.ParseC2B(bodies[0])
		if _, clear := c.Phone(); err != nil || clear || c.BillRef != "acme-0001" ||
			c.Amount != money.Of(9950, money.KES) || !c.PaidAt.Equal(start) {
			t.Errorf("%s: %#v, %v", path, c, err)
		}
	}
}

func TestNormalizePhone(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"+254700000001", "254700000001", "0700000001", "700000001"} {
		if got, err := mobilemoney.NormalizePhone(good); got != payer || err != nil {
			t.Errorf("%q is %q, %v", good, got, err)
		}
	}
	if got, err := mobilemoney.NormalizePhone("0110000001"); got != "254110000001" || err != nil {
		t.Errorf("newer range: %q, %v", got, err)
	}
	for _, bad := range []string{
		"", "+", "+254", "0", "07000000", "07000000011", "+25470000000", "2547000000011", "0700 000001", "07000a0001",
		"+255700000001", "800000001", "+2540700000001", "２54700000001", "-254700000001", "2547*****126", "0700000001\n",
	} {
		if got, err := mobilemoney.NormalizePhone(bad); err == nil || got != "" {
			t.Errorf("%q taken as %q", bad, got)
		}
	}
}

// checkTold checks the limits that every accepted callback keeps: amount, time and identifiers.
func checkTold(t *testing.T, amount money.Amount, at time.Time, identifiers ...string) {
	t.Helper()
	if amount != (money.Amount{}) && (!amount.Positive() || amount.Currency != money.KES) {
		t.Errorf("amount %v", amount)
	}
	if !at.IsZero() && at.Location() != time.UTC {
		t.Errorf("instant %v", at)
	}
	for _, id := range identifiers {
		if strings.TrimSpace(id) != id || len(id) > 100 {
			t.Errorf("identifier %q", id)
		}
	}
}

func FuzzParseSTKCallback(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := mobilemoney.ParseSTKCallback(body)
		if err != nil {
			if c != (mobilemoney.STKCallback{}) {
				t.Errorf("error %v with %#v", err, c)
			}
			return
		}
		checkTold(t, c.Amount, c.PaidAt, c.CheckoutRequestID, c.ResultCode, c.ReceiptNumber)
		if c.CheckoutRequestID == "" || c.ResultCode == "" || c.Verdict().Status == "" {
			t.Errorf("accepted %#v", c)
		}
	})
}

func FuzzParseC2B(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := mobilemoney.ParseC2B(body)
		if err != nil {
			if c != (mobilemoney.C2B{}) {
				t.Errorf("error %v with %#v", err, c)
			}
			return
		}
		checkTold(t, c.Amount, c.PaidAt, c.ReceiptNumber, c.ShortCode)
		if c.ReceiptNumber == "" || c.ShortCode == "" || !c.Amount.Positive() {
			t.Errorf("accepted %#v", c)
		}
	})
}

func FuzzNormalizePhone(f *testing.F) {
	f.Fuzz(func(t *testing.T, phone string) {
		got, err := mobilemoney.NormalizePhone(phone)
		if err != nil {
			return
		}
		if again, err := mobilemoney.NormalizePhone(got); again != got || err != nil || len(got) != 12 {
			t.Errorf("%q is %q, then %q, %v", phone, got, again, err)
		}
	})
}

func TestParseC2B_KeepsEveryFieldOfTheProvider(t *testing.T) {
	t.Parallel()
	body := `{"TransactionType":"Pay Bill","TransID":"ABC123XYZ9","TransTime":"20260302120000","TransAmount":"99.50",
		"BusinessShortCode":"600100","BillRefNumber":"acme-0001","InvoiceNumber":"ACME-0001","ThirdPartyTransID":"t-1",
		"OrgAccountBalance":"49197.10","MSISDN":"254700000001","FirstName":"JANE","MiddleName":"W","LastName":"DOE"}`
	c, err := mobilemoney.ParseC2B([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	have := []string{c.InvoiceNumber, c.ThirdPartyTransID, c.OrgAccountBalance, c.FirstName, c.MiddleName, c.LastName}
	if diff := cmp.Diff([]string{"ACME-0001", "t-1", "49197.10", "JANE", "W", "DOE"}, have); diff != "" {
		t.Error(diff)
	}
	for _, balance := range []string{`null`, `{}`, `[1]`, `"` + strings.Repeat("9", 300) + `"`, `"a\u0001b"`, `true`} {
		c, err := mobilemoney.ParseC2B([]byte(strings.Replace(body, `"49197.10"`, balance, 1)))
		if err != nil || c.ReceiptNumber != "ABC123XYZ9" {
			t.Errorf("a balance of %.20s makes the callback unreadable: %v", balance, err)
		}
	}
}
