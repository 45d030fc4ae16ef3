package billingviews_test

import (
	"strconv"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// The people of these stories: Ada asks, Cara agrees, and a key is answered for by Ada and later by Cara.
var (
	ada  = id.Derive[id.User]("test", "ada")
	cara = id.Derive[id.User]("test", "cara")
	key  = id.Derive[id.APIKey]("test", "books")
	// given is a compensation.
	given = id.Derive[id.Compensation]("test", "gift")
)

// approvalOf names an act of Amina's money by its kind.
func approvalOf(kind string, minor int64) events.ApprovalSubject {
	return events.ApprovalSubject{
		ApprovalID: id.Derive[id.Approval]("test", kind), OrgID: acme, SubscriberID: amina, Kind: kind,
		Amount: kes(minor),
	}
}

// askedBy is Ada's request.
func askedBy(of events.ApprovalSubject, act events.ApprovalAct) events.ApprovalRequested {
	return events.ApprovalRequested{
		ApprovalSubject: of, Act: act, By: ada, PersonID: ada, Role: events.RoleAdmin, Reason: personal.Of("agreed"),
		ExpiresAt: began.AddDate(0, 0, 7), At: began,
	}
}

// Of two approvals of Amina one is carried out and one refused, before she is forgotten; others fail, expire and are
// withdrawn.
func TestApprovals_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	s := projectiontest.NewStory(acme, began)
	of := func(kind string, act events.ApprovalAct, ends ...func(events.ApprovalSubject) events.Event) {
		subject := approvalOf(kind, 5000)
		stream := "approval-" + kind
		s.Add(stream, askedBy(subject, act))
		for _, end := range ends {
			s.Add(stream, end(subject))
		}
	}
	granted := func(o events.ApprovalSubject) events.Event {
		return events.ApprovalGranted{ApprovalSubject: o, By: cara, Role: events.RoleAdmin, At: at(5)}
	}
	of(events.ActReissue, events.ApprovalAct{
		InvoiceID: invoiceID(1), Lines: []events.ApprovalLine{{
			Description: personal.Of("for Amina"), Quantity: "2", UnitPrice: kes(100),
		}},
	}, granted, func(o events.ApprovalSubject) events.Event {
		return events.ApprovalCarriedOut{ApprovalSubject: o, At: at(6)}
	})
	of(events.ActWriteOff, events.ApprovalAct{}, func(o events.ApprovalSubject) events.Event {
		return events.ApprovalRefused{ApprovalSubject: o, By: cara, Reason: personal.Of("she pays"), At: at(7)}
	})
	of(events.ActReversal, events.ApprovalAct{ReceiptID: receiptID(1)}, granted,
		func(o events.ApprovalSubject) events.Event {
			return events.ApprovalFailed{ApprovalSubject: o, Code: "approval_outdated", At: at(8)}
		})
	of(events.ActVoid, events.ApprovalAct{InvoiceID: invoiceID(2)}, func(o events.ApprovalSubject) events.Event {
		return events.ApprovalWithdrawn{ApprovalSubject: o, By: ada, At: at(9)}
	})
	of(events.ActCompensation, events.ApprovalAct{}, func(o events.ApprovalSubject) events.Event {
		return events.ApprovalExpired{ApprovalSubject: o, At: at(10)}
	})
	of(events.ActLimit, events.ApprovalAct{Before: kes(100), NoLimit: true})
	s.Add("subscriber-amina", events.SubscriberForgotten{SubscriberID: amina})
	projectiontest.Check(t, billingviews.Approvals{}, s)
}

// Acts of Ada, of a key and of processes: those of processes are not hers. A second person agreed to some.
func TestCorrections_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	var correlation, causation string
	s := projectiontest.NewStory(acme, began)
	does := func(actor events.Actor, action string, list ...events.Event) {
		s.With(func(m *events.Metadata) {
			m.Actor, m.CorrelationID, m.CausationID, m.Action = actor, correlation, causation, action
		}).Add("story", list...)
	}
	by := func(user id.User, action string, list ...events.Event) {
		does(events.Actor{Kind: events.ActorUser, ID: user.String(), Role: "admin"}, action, list...)
	}
	by(ada, "identity.IssueAPIKey", events.APIKeyIssued{KeyID: key, OrgID: acme, By: ada})
	writeOff := func(n string, minor int64) events.Event {
		return events.DebtWrittenOff{
			SubscriberID: amina, OrgID: acme, WriteOffID: id.Derive[id.Receipt]("test", n), Amount: kes(minor),
		}
	}
	by(ada, "billing.WriteOffDebt", writeOff("one", 500), writeOff("two", 300))
	does(events.Actor{Kind: events.ActorAPIKey, ID: key.String(), Role: "admin"}, "billing.WriteOffDebt",
		writeOff("by a key", 200), events.APIKeyRotated{KeyID: key, OrgID: acme, By: cara},
		writeOff("by its new owner", 100))
	note := func(n string, minor int64, replacedBy id.Invoice) events.Event {
		return events.CreditNoteDrafted{
			SubscriberID: amina, OrgID: acme, CreditNoteID: id.Derive[id.Receipt]("test", n), InvoiceID: invoiceID(1),
			Amount: kes(minor), ReplacedBy: replacedBy,
		}
	}
	by(ada, "billing.DraftCreditNote", note("note", 700, id.Invoice{}))
	by(ada, "billing.CreditDays", note("of days", 900, id.Invoice{}))
	by(ada, "payments.ReverseReceipt", events.ReceiptReversed{ReceiptID: receiptID(1), OrgID: acme, Amount: kes(1100)})
	by(ada, "payments.ReattributeReceipt", events.ReceiptReattributed{
		ReceiptID: receiptID(2), OrgID: acme, From: amina, To: brian, Amount: kes(1200), Move: 1,
	})
	order, corrected := drafted(7, amina, 4000, 0, 10), drafted(8, amina, 6000, 0, 10)
	order.Order, corrected.Replaces = true, invoiceID(1)
	by(ada, "billing.DraftInvoice", order)
	by(ada, "billing.ReissueInvoice", corrected, note("of the wrong one", 8000, corrected.InvoiceID))
	void := func(n int, minor int64) events.Event {
		return events.InvoiceVoided{SubscriberID: amina, InvoiceID: invoiceID(n), Total: kes(minor), WasIssued: true}
	}
	by(ada, "billing.VoidInvoice", void(7, 4000), void(9, 1300), void(10, 0))
	actsInTwoSteps(by)
	causation = "01a21d43-bc0b-789f-96b3-27e48be37c6d" // what follows is done by processes and jobs
	by(ada, "billing.WriteOffDebt", writeOff("by a process", 1))
	gift := approvalOf(events.ActCompensation, 180)
	by(cara, "billing.GrantApproval", events.ApprovalGranted{ApprovalSubject: gift, By: cara})
	correlation = given.String()
	by(ada, "outages.ApplyCompensation", events.CompensationApplied{CompensationID: given, OrgID: acme, Parts: 2})
	approved := approvalOf(events.ActWriteOff, 9000)
	by(ada, "billing.RequestApproval", askedBy(approved, events.ApprovalAct{}))
	by(cara, "billing.GrantApproval", events.ApprovalGranted{ApprovalSubject: approved, By: cara})
	correlation = approved.ApprovalID.String()
	by(ada, "billing.WriteOffDebt", writeOff("approved", 9000))
	creditsOfImports(by, &correlation)
	projectiontest.Check(t, billingviews.Corrections{}, s)
}

// creditsOfImports tells of two imports, of which one waited for a second person; what was owed is no credit.
func creditsOfImports(by func(user id.User, action string, list ...events.Event), correlation *string) {
	for n, agreed := range []bool{false, true} {
		of := id.Derive[id.Import]("test", strconv.Itoa(n))
		subject := approvalOf(events.ActImport, int64(20+n))
		if agreed {
			by(ada, "billing.RequestApproval", askedBy(subject, events.ApprovalAct{ImportID: of}))
			by(cara, "billing.GrantApproval", events.ApprovalGranted{ApprovalSubject: subject, By: cara})
		}
		*correlation = of.String()
		by(ada, "subscribers.AskImport", events.ImportAsked{ImportID: of, OrgID: acme, Rows: 3, Parts: 1})
		for _, minor := range []int64{-400, 700, -250} {
			by(ada, "billing.CarryBalanceOver", events.BalanceCarriedOver{
				SubscriberID: amina, OrgID: acme, Amount: kes(minor),
			})
		}
	}
}

// actsInTwoSteps tells of a refund that Cara lets go for Ada, and of a compensation that waits for a second person.
func actsInTwoSteps(by func(user id.User, action string, list ...events.Event)) {
	refund := id.Derive[id.Refund]("test", "refund")
	by(ada, "payments.RequestRefund", events.RefundRequested{
		RefundID: refund, OrgID: acme, ReceiptID: receiptID(3), Amount: kes(1400),
	})
	by(cara, "payments.ApproveRefund", events.RefundApproved{RefundID: refund, OrgID: acme, Amount: kes(1400)})
	items := func(minor ...int64) (list []events.CompensationItem) {
		for _, m := range minor {
			list = append(list, events.CompensationItem{SubscriberID: amina, Amount: kes(m)})
		}
		return append(list, events.CompensationItem{SubscriberID: brian, Code: "nothing_to_compensate"})
	}
	by(cara, "outages.PreviewCompensation", events.CompensationPreviewed{CompensationID: given, OrgID: acme, Parts: 2},
		events.CompensationListed{CompensationID: given, OrgID: acme, Items: items(50, 60)},
		events.CompensationListed{CompensationID: given, OrgID: acme, Part: 1, Items: items(70)})
	of := approvalOf(events.ActCompensation, 180)
	by(ada, "billing.RequestApproval", askedBy(of, events.ApprovalAct{CompensationID: given}))
}
