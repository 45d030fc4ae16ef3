package messagingcases_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases/messaging"
)

// answers opens a request of the customer, answers it, and makes the messages be about that answer.
func (k *kit) answers(t *testing.T) {
	t.Helper()
	org, request, text := k.args.OrgID, id.New[id.Support](), personal.Of("It is slow.")
	k.Run(t, coretest.Operator(org), commands.OpenSupportRequest{
		RequestID: request, OrgID: org, SubscriberID: k.args.SubscriberID, ByCustomer: true,
		Subject: personal.Of("Slow"), Text: text,
	})
	k.Run(t, coretest.Operator(org), commands.AnswerSupportRequest{RequestID: request, Text: text})
	k.delivery.Portal = func(slug string) string { return "https://" + slug + "/portal/" }
	k.args = commands.SendMessage{
		OrgID: org, SubscriberID: k.args.SubscriberID, RequestID: request, Number: 2, Template: events.NoticeSupport,
		At: noon, Until: k.args.Until,
	}
}

func TestSend_AnAnswerIsToldOnceAndAtOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	err := k.sets(t, messagingcases.SettingsChange{Quiet: new(&events.QuietHours{From: 0, To: 23 * 60})})
	if err != nil {
		t.Fatal(err)
	}
	k.answers(t)
	const want = "The acme: we have answered your support request. Read it at https://acme/portal/"
	if got := k.only(t); got != want {
		t.Errorf("%s", got)
	}
	k.args.Number = 3 // another answer is another message
	if again, err := k.send(t, "third"); err != nil || !again.IsZero() || len(k.sent) != 2 {
		t.Errorf("again at %s, %v, sent %+v", again, err, k.sent)
	}
}

// TestSend_OfAnAnswerThatTheCustomerHasReadNothingIsSaid: who has written back knows it.
func TestSend_OfAnAnswerThatTheCustomerHasReadNothingIsSaid(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.answers(t)
	k.Run(t, coretest.Operator(k.args.OrgID), commands.ContinueSupportRequest{
		RequestID: k.args.RequestID, Text: personal.Of("It is fast."),
	})
	again, err := k.send(t, "one")
	if err != nil || !again.Equal(time.Time{}) || len(k.sent) != 0 {
		t.Errorf("again at %s, %v, sent %+v", again, err, k.sent)
	}
}

// TestSend_AForeignRequestIsToldToNobody: the organization of the job has no such request.
func TestSend_AForeignRequestIsToldToNobody(t *testing.T) {
	t.Parallel()
	k := newKit(t, phone())
	k.answers(t)
	k.args.RequestID = id.New[id.Support]()
	if _, err := k.send(t, "one"); err == nil || len(k.sent) != 0 {
		t.Errorf("%v, sent %+v", err, k.sent)
	}
}
