package main

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// remarkedName is the person's username.
const remarkedName = "amina.otieno"

// person is a subscriber with a subscription, and an account with a drafted credit note. The streams of both are about
// to be closed, and have personal texts.
type person struct {
	kit          *storetest.Kit
	clock        *clock.Manual
	org          id.Organization
	who          id.Subscriber
	subscription id.Subscription
	note         id.Receipt
	until        time.Time // end of the paid time
}

// newPerson writes the events of the person by the given bus.
func newPerson(t *testing.T) (*person, *bus.Bus) {
	t.Helper()
	p := &person{
		kit: storetest.New(t), clock: clock.NewManual(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)),
		org: id.New[id.Organization](), who: id.New[id.Subscriber](), subscription: id.New[id.Subscription](),
		note: id.New[id.Receipt](),
	}
	b, invoice := p.bus(), id.New[id.Invoice]()
	for _, c := range []commands.Command{
		commands.CreateSubscription{
			SubscriptionID: p.subscription, OrgID: p.org, SubscriberID: p.who, PlanID: id.New[id.Plan](),
			PlanVersion: 1, Timezone: "Africa/Nairobi", Username: personal.Of(remarkedName),
			PasswordRef: id.New[id.Secret](), Addresses: commands.ServiceAddresses{
				StaticIP: personal.Of("203.0.113.9"), StaticIPv6Prefix: personal.Of("2001:db8:1:100::/56"),
				MACAddresses: personal.OfAll([]string{"AA:BB:CC:DD:EE:FF"}),
			},
			Terms: events.PlanTerms{
				Name: "Home", Kind: "pppoe", Price: money.Major(1500, money.KES), Mode: events.Prepaid,
				Period: calendar.Month, Rates: events.Rates{Down: 10_000, Up: 5_000},
			},
		},
		commands.ExtendSubscription{
			SubscriptionID: p.subscription, InvoiceID: commands.PeriodInvoice(p.subscription, 1), PaidAt: p.clock.Now(),
		},
		commands.DraftInvoice{
			SubscriberID: p.who, OrgID: p.org, InvoiceID: invoice, Currency: money.KES, Prefix: "ACME",
			Lines: []commands.LineInput{{Description: remark, Quantity: "1", UnitPrice: money.Major(100, money.KES)}},
			DueOn: calendar.Date{Year: 2026, Month: time.March, Day: 9}, Tax: events.TaxRule{Inclusive: true},
		},
		commands.IssueInvoice{SubscriberID: p.who, InvoiceID: invoice, Number: "ACME-0001"},
		commands.DraftCreditNote{
			SubscriberID: p.who, CreditNoteID: p.note, InvoiceID: invoice, Amount: money.Major(40, money.KES),
			Reason: remark, Prefix: "ACME-CN",
		},
	} {
		p.do(t, b, c)
	}
	s, _, err := bus.LoadUnchecked[subscribers.Subscription](t.Context(), b, p.subscription)
	if err != nil || s.PaidUntil().IsZero() {
		t.Fatalf("%+v, %v", s, err)
	}
	p.until = s.PaidUntil()
	return p, b
}

// bus is a bus without anything in memory, which closes streams of four events.
func (p *person) bus() *bus.Bus {
	b := bus.New(bus.Config{
		Store: p.kit.Store, Claims: storetest.ClaimKey, Clock: p.clock, Logger: storetest.Quiet(),
		PeriodLength: lifePeriod,
	})
	registerSubscribers(b)
	registerBilling(b)
	return b
}

// do executes a command that must change something.
func (p *person) do(t *testing.T, b *bus.Bus, c commands.Command) {
	t.Helper()
	meta := commands.Meta{
		CommandID: id.New[id.Command](), OrgID: p.org,
		Actor: events.Actor{Kind: events.ActorUser, ID: id.New[id.User]().String(), Role: string(events.RoleAdmin)},
	}
	if r, err := b.Execute(t.Context(), c, meta); err != nil || !r.Changed {
		t.Fatalf("%s: %+v, %v", c.CommandName(), r, err)
	}
}

// periods counts the closing events of the log, and fails for a remark that is not sealed.
func (p *person) periods(t *testing.T) (closed int) {
	t.Helper()
	schema := pgx.Identifier{p.kit.DB.Namespace.Schema("log")}.Sanitize()
	rows, _ := p.kit.DB.Owner.Query(t.Context(), `select type || convert_from(data, 'UTF8')
		from `+schema+`.readable_events`)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range list {
		if strings.Contains(text, remark) || strings.Contains(text, remarkedName) {
			t.Errorf("not sealed: %s", text)
		}
		if strings.Contains(text, "PeriodClosed.") {
			closed++
		}
	}
	return closed
}

func TestForgotten_StreamsOfThePersonAreClosedAndOpenedWithoutWhatWasPersonal(t *testing.T) {
	t.Parallel()
	for name, warm := range map[string]bool{"texts still in memory": true, "read from the log": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := newPerson(t)
			before := p.periods(t)
			p.kit.Keys.Destroy(p.who.UUID())
			if !warm {
				b = p.bus()
			}
			p.do(t, b, commands.PauseSubscription{SubscriptionID: p.subscription, Reason: remark})
			for units := range lifePeriod {
				p.do(t, b, commands.ShowCredentials{SubscriptionID: p.subscription})
				p.do(t, b, commands.ReservePrompt{
					SubscriberID: p.who, OrgID: p.org, PaymentID: id.New[id.Payment](),
					Amount: money.Major(int64(units)+1, money.KES),
				})
			}
			if after := p.periods(t); after < before+2 {
				t.Fatalf("%d periods were closed before, %d after", before, after)
			}
			fresh := p.bus()
			s, _, err := bus.LoadUnchecked[subscribers.Subscription](t.Context(), fresh, p.subscription)
			if err != nil || s.State != subscribers.Paused || !s.PaidUntil().Equal(p.until) ||
				s.Username.Reveal() != "" || s.Addresses.StaticIP.Reveal() != "" ||
				s.Addresses.StaticIPv6Prefix.Reveal() != "" ||
				strings.Join(personal.RevealAll(s.Addresses.MACAddresses), "") != "" {
				t.Errorf("subscription %+v, %v", s, err)
			}
			a, _, err := bus.LoadUnchecked[billing.Account](t.Context(), fresh, p.who)
			if note := a.Notes[p.note]; err != nil || note.Amount != money.Major(40, money.KES) ||
				note.Reason.Reveal() != "" {
				t.Errorf("note %+v of %+v, %v", note, a, err)
			}
			p.clock.Advance(24 * time.Hour)
			p.do(t, fresh, commands.ResumeSubscription{SubscriptionID: p.subscription, Reason: remark})
			p.do(t, fresh, commands.IssueCreditNote{
				SubscriberID: p.who, CreditNoteID: p.note, Number: "ACME-CN-0001",
			})
			p.periods(t)
		})
	}
}
