package processrunner

import (
	"bytes"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/network"
	"github.com/lastmile-isp/lastmile/commands/bus"
)

// FuzzStoredCommand checks that a row of the outbox is either refused or a command of the row's name, which is stored
// again in the same form.
func FuzzStoredCommand(f *testing.F) {
	b := bus.New(bus.Config{})
	bus.Register(b, billing.Accounts())
	bus.Register(b, network.Services())
	bus.Register(b, network.AddressPlans())
	d := &round{process: &process{r: &Runner{cfg: Config{Bus: b}}}}
	f.Add("billing.CreditReceipt", []byte(`{"Amount":{"minor":9223372036854775807,"currency":"KES"}}`), []byte(`{}`))
	f.Add("billing.CreditReceipt", []byte(`{"Amount":{"minor":1.5}}`), []byte(`{}`))
	f.Add("billing.ReleasePrompt", []byte(`null`), []byte(`null`))
	f.Add("network.ReportApplied", []byte(`{"Generation":1e2}`), []byte(`{"orgId":"x"}`))
	f.Add("network.SettleAddresses", []byte(`[]`), []byte(``))
	f.Add("", []byte(``), []byte(`{}`))
	f.Fuzz(func(t *testing.T, name string, body, cause []byte) {
		cmd, _, err := d.decode(storedCommand{Name: name, Body: body, Cause: cause})
		if err != nil {
			if cmd != nil {
				t.Fatalf("%s %s is %+v and %v", name, body, cmd, err)
			}
			return
		}
		_, _ = cmd.Validate(), cmd.Target()
		again, first, err := b.EncodeStored(cmd)
		if err != nil || again != name {
			return // a command that can hold personal text is never stored
		}
		if cmd, _, err = d.decode(storedCommand{Name: name, Body: first, Cause: cause}); err != nil {
			t.Fatalf("%s %s cannot be read again: %v", name, first, err)
		}
		if _, second, err := b.EncodeStored(cmd); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s %s is stored as %s, %v", name, first, second, err)
		}
	})
}
