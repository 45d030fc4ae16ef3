package renewal_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
)

// Each kind of command that is asked again, with all that the process sets in it, and others of the same kind that
// differ from it by one id.
func TestRefused_EachKindIsAskedAgainAsItWas(t *testing.T) {
	t.Parallel()
	note := commands.CreditDays{
		SubscriberID: who, CreditNoteID: id.Derive[id.Receipt]("test", "note"), Reason: "days of a pause",
		DaysCredit: events.DaysCredit{
			InvoiceID: inv1, Days: 3, Of: 28, Amount: kes(7), KeepsPeriod: true, Net: kes(100), NetOf: kes(250),
		},
	}
	note2 := note
	note2.CreditNoteID = id.Derive[id.Receipt]("test", "note2")
	extend := commands.ExtendSubscription{
		SubscriptionID: line, InvoiceID: inv1, PaidAt: until, Late: events.FromExpiry,
		Part: events.PartPeriod{Days: 3, Of: 28},
	}
	extend2 := extend
	extend2.InvoiceID = inv2
	asked := []commands.Command{
		extend, extend2,
		commands.WithdrawPeriod{SubscriptionID: line, InvoiceID: inv1, Reason: "the payment was taken back"},
		commands.CancelPeriod{SubscriptionID: line, InvoiceID: inv1},
		commands.ReissuePeriod{SubscriptionID: line, InvoiceID: inv1, CorrectedID: inv2},
		void(inv1),
		commands.ExpireSubscription{SubscriptionID: line}, commands.ExpireSubscription{SubscriptionID: line2},
		note, note2,
	}
	s := after(t, prepaid(line), prepaid(line2))
	for range 2 { // each is kept once
		for _, c := range asked {
			s = s.WhenRefused(c, "concurrent_change").
				Then(processmanagers.Output{Timers: []processmanagers.Timer{{Name: "again", At: start.Add(time.Hour)}}})
		}
	}
	s.WhenDue("again", start.Add(time.Hour)).Then(does(asked...)).WhenDue("again", start).ThenNothing()
}

// A kind of another version of the program gives no other command in its place.
func TestRefused_AnUnknownKindGivesNoCommand(t *testing.T) {
	t.Parallel()
	s := renewal.State{Refused: []renewal.Refused{
		{Kind: "subscribers.Unknown", SubscriptionID: line, SubscriberID: who, InvoiceID: inv1},
		{Kind: commands.CancelPeriod{}.CommandName(), SubscriptionID: line, InvoiceID: inv1},
	}}
	out, err := renewal.Decide(s, processmanagers.Input{Timeout: &processmanagers.Timeout{Name: "again"}}, start)
	if err != nil || len(out.Commands) != 1 ||
		out.Commands[0] != commands.Command(commands.CancelPeriod{SubscriptionID: line, InvoiceID: inv1}) {
		t.Errorf("asks %+v, %v", out, err)
	}
}
