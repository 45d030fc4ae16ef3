package paymentsviews_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// The ids of the story. Amina and Brian are subscribers of Acme.
var (
	acme    = id.Derive[id.Organization]("test", "acme")
	other   = id.Derive[id.Organization]("test", "other")
	amina   = id.Derive[id.Subscriber]("test", "amina")
	brian   = id.Derive[id.Subscriber]("test", "brian")
	chege   = id.Derive[id.Subscriber]("test", "chege") // of Other
	invoice = id.Derive[id.Invoice]("test", "invoice")
	lost    = id.Derive[id.Invoice]("test", "lost") // written off
	keys    = id.Derive[id.Secret]("test", "keys")
	newKeys = id.Derive[id.Secret]("test", "new keys")
)

// began is the first instant of the story; most events happen then.
var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// kes takes whole shillings, not cents.
func kes(units int64) money.Amount { return money.Major(units, money.KES) }

// payment returns the id of an attempt by its name in the story.
func payment(name string) id.Payment { return id.Derive[id.Payment]("test", name) }

// receipt returns the id of a receipt by its name in the story.
func receipt(name string) id.Receipt { return id.Derive[id.Receipt]("test", name) }

// initiated begins an attempt of Amina to pay 1,500 shillings.
func initiated(name string) events.PaymentInitiated {
	return events.PaymentInitiated{
		PaymentID: payment(name), OrgID: acme, SubscriberID: amina, InvoiceID: invoice, Amount: kes(1500),
		Phone: personal.Of("254712345678"), Environment: "sandbox", Shortcode: "600100",
		AccountReference: "PREF" + name, InitiatedAt: began, ExpiresAt: began.Add(24 * time.Hour),
	}
}

// accepted gives the attempt the provider's ids of its prompt.
func accepted(name string) events.PromptAccepted {
	return events.PromptAccepted{
		PaymentID: payment(name), MerchantRequestID: "m-" + name, CheckoutRequestID: "ws_" + name,
		CustomerMessage: "Look at your phone", At: began,
	}
}

// recorded is a receipt of 1,500 shillings on the shared paybill.
func recorded(name string) events.ReceiptRecorded {
	return events.ReceiptRecorded{
		ReceiptID: receipt(name), Provider: "mobile_money", ReceiptNumber: name, Channel: "c2b", Shortcode: "600100",
		Amount: kes(1500), PaidAt: began, PayerPhone: personal.Of("254712345678"), PayerName: personal.Of("AMINA W"),
		BillRef: personal.Of("10000008"), Sighting: "c2b_confirmation", RecordedAt: began,
	}
}

// matched attributes a receipt to Amina.
func matched(name, by, channel string) events.ReceiptMatched {
	return events.ReceiptMatched{
		ReceiptID: receipt(name), OrgID: acme, SubscriberID: amina, ReceiptNumber: name, Channel: channel,
		Amount: kes(1500), PaidAt: began, By: by, At: began,
	}
}

// paymentsStory has an attempt for each verdict, and receipts in each state.
func paymentsStory() *projectiontest.Story {
	s := projectiontest.NewStory(acme, began)
	attempt := func(name string, list ...events.Event) {
		submitting := events.PromptSubmitting{PaymentID: payment(name), At: began}
		s.Add("payment-"+name, append([]events.Event{initiated(name), submitting}, list...)...)
	}
	attempt("sent")
	attempt("open", accepted("open"),
		events.PromptChecked{PaymentID: payment("open"), Code: "4999", Answered: true, At: began})
	attempt("doubt", events.PromptInDoubt{PaymentID: payment("doubt"), Cause: "timeout", At: began})
	attempt("cancel", accepted("cancel"),
		events.PaymentCancelled{PaymentID: payment("cancel"), Code: "1032", Message: "no", By: "callback", At: began})
	attempt("fail", accepted("fail"),
		events.PaymentFailed{PaymentID: payment("fail"), Code: "2001", Message: "pin", By: "query", At: began},
		events.PaymentSucceeded{
			PaymentID: payment("fail"), Amount: kes(1500), ReceiptID: receipt("LATE"), ReceiptNumber: "LATE",
			By: "callback", At: began,
		})
	attempt("early",
		events.PaymentSucceeded{
			PaymentID: payment("early"), Amount: kes(1500), ReceiptID: receipt("R1"), ReceiptNumber: "R1",
			By: "callback", At: began,
		},
		accepted("early"))
	attempt("query", accepted("query"),
		events.PaymentSucceeded{
			PaymentID: payment("query"), Amount: kes(1500), ReceiptID: receipt("P"), Provisional: true, By: "query",
			At: began,
		},
		events.ProvisionalClaimed{
			PaymentID: payment("query"), ReceiptID: receipt("R2"), ReceiptNumber: "R2",
			ProvisionalReceiptID: receipt("P"), At: began,
		})
	attempt("expire", accepted("expire"), events.PaymentExpired{PaymentID: payment("expire"), At: began})

	addMoney(s)
	return s
}

// addMoney adds the receipts, and their allocations to invoices.
func addMoney(s *projectiontest.Story) {
	money := func(name string, list ...events.Event) { s.Add("receipt-"+name, list...) }
	money("M", recorded("M"),
		events.ReceiptSighted{
			ReceiptID: receipt("M"), Sighting: "stk_callback", CheckoutRequestID: "ws_M", PaymentID: payment("M"),
			At: began,
		},
		matched("M", "account_number", "c2b"))
	s.Add("account-amina",
		events.InvoiceAllocated{
			SubscriberID: amina, InvoiceID: invoice, ReceiptID: receipt("M"), Amount: kes(1000), At: began,
		},
		events.InvoiceAllocated{
			SubscriberID: amina, InvoiceID: invoice, ReceiptID: receipt("M"), Amount: kes(500), At: began,
		})
	money("H", recorded("H"), events.ReceiptHeld{ReceiptID: receipt("H"), Reason: "no_match", At: began},
		events.ReceiptAssigned{ReceiptID: receipt("H"), OrgID: acme, At: began}, matched("H", "operator", "c2b"))
	money("N", recorded("N"), events.ReceiptHeld{ReceiptID: receipt("N"), Reason: "ambiguous", At: began})
	money("D", recorded("D"), matched("D", "phone", "c2b"), events.ReceiptDisputed{
		ReceiptID: receipt("D"), Sighting: "c2b_confirmation", Amount: kes(9), Shortcode: "600100", At: began,
	})
	provisional := recorded("P")
	provisional.ReceiptNumber, provisional.Provisional = "", true
	provisional.Channel, provisional.PaymentID = "stk", payment("query")
	money("P", provisional, matched("P", "prompt", "stk"), events.ReceiptUnclaimed{ReceiptID: receipt("P"), At: began},
		events.ReceiptClaimed{ReceiptID: receipt("P"), ClaimedBy: receipt("R2"), ReceiptNumber: "R2", At: began})
	money("R2", recorded("R2"), events.ReceiptAbsorbed{
		ReceiptID: receipt("R2"), OrgID: acme, SubscriberID: amina, PaymentID: payment("query"),
		ProvisionalReceiptID: receipt("P"), Amount: kes(1500), At: began,
	})
	cash := recorded("CASH")
	cash.Channel, cash.Provider, cash.OrgID, cash.Sighting = "cash", "cash", acme, "cash"
	money("CASH", cash, matched("CASH", "cash", "cash"),
		events.ReceiptReattributed{
			ReceiptID: receipt("CASH"), OrgID: acme, From: amina, To: brian, Amount: kes(1500), Move: 1,
			Reason: personal.Of("typing error"), At: began,
		},
		events.ReceiptReversed{
			ReceiptID: receipt("CASH"), OrgID: acme, SubscriberID: brian, Amount: kes(1500),
			Reason: personal.Of("false note"), At: began,
		})
	s.Add("account-amina", events.AllocationWithdrawn{
		SubscriberID: amina, InvoiceID: invoice, ReceiptID: receipt("M"), Amount: kes(500), At: began,
	}, events.WriteOffRecovered{
		SubscriberID: amina, OrgID: acme, InvoiceID: lost, ReceiptID: receipt("M"), Amount: kes(400), At: began,
	}, events.RecoveryWithdrawn{
		SubscriberID: amina, OrgID: acme, InvoiceID: lost, ReceiptID: receipt("M"), Amount: kes(100), At: began,
	})
	addRefunds(s)
}

// refund returns the id of a refund by its name in the story.
func refund(name string) id.Refund { return id.Derive[id.Refund]("test", name) }

// addRefunds adds a refund of credit that was paid, one that was cancelled, one that waits, and one out of suspense.
func addRefunds(s *projectiontest.Story) {
	asked := func(name, of string, whose id.Subscriber, units int64) events.RefundRequested {
		return events.RefundRequested{
			RefundID: refund(name), OrgID: acme, ReceiptID: receipt(of), ReceiptNumber: of, SubscriberID: whose,
			Amount: kes(units), By: "manual", Reason: personal.Of("paid twice"), At: began,
		}
	}
	completed := func(name, of string, whose id.Subscriber, units int64) events.RefundCompleted {
		return events.RefundCompleted{
			RefundID: refund(name), OrgID: acme, ReceiptID: receipt(of), SubscriberID: whose, Amount: kes(units),
			Reference: "CHQ 12", SaidBy: "operator", At: began,
		}
	}
	secured := func(name string) events.RefundSecured {
		return events.RefundSecured{RefundID: refund(name), At: began}
	}
	approved := func(name, of string) events.RefundApproved {
		return events.RefundApproved{
			RefundID: refund(name), OrgID: acme, ReceiptID: receipt(of), By: "manual", At: began,
		}
	}
	s.Add("refund-part", asked("part", "M", amina, 500), secured("part"), approved("part", "M"),
		completed("part", "M", amina, 500))
	s.Add("receipt-M", events.ReceiptRefunded{
		ReceiptID: receipt("M"), OrgID: acme, SubscriberID: amina, RefundID: refund("part"), Amount: kes(500),
		Left: kes(1000), At: began,
	})
	s.Add("refund-none", asked("none", "M", amina, 100), events.RefundFailed{
		RefundID: refund("none"), OrgID: acme, ReceiptID: receipt("M"), SubscriberID: amina, Amount: kes(100),
		Code: "cancelled", Reason: personal.Of("changed her mind"), SaidBy: "operator", At: began,
	})
	back := asked("back", "M", amina, 50)
	back.By = "reversal"
	s.Add("refund-back", back, secured("back"), approved("back", "M"),
		events.RefundSubmitted{RefundID: refund("back"), ReceiptID: receipt("M"), Amount: kes(50), At: began},
		events.RefundAcknowledged{RefundID: refund("back"), OriginatorConversationID: "oc-1", At: began},
		events.RefundDoubted{
			RefundID: refund("back"), ReceiptID: receipt("M"), Amount: kes(50), Cause: "no_result", At: began,
		})
	s.Add("refund-waits", asked("waits", "H", amina, 1500), secured("waits"))
	held := recorded("S")
	held.OrgID, held.Shortcode = acme, "600777"
	s.Add("receipt-S", held, events.ReceiptHeld{ReceiptID: receipt("S"), Reason: "no_match", At: began},
		events.ReceiptSetAside{
			ReceiptID: receipt("S"), OrgID: acme, RefundID: refund("whole"), Amount: kes(1500), At: began,
		})
	s.Add("refund-whole", asked("whole", "S", id.Subscriber{}, 1500), secured("whole"), approved("whole", "S"),
		completed("whole", "S", id.Subscriber{}, 1500))
	s.Add("receipt-S", events.ReceiptRefunded{
		ReceiptID: receipt("S"), OrgID: acme, RefundID: refund("whole"), Amount: kes(1500), Left: kes(0), At: began,
	})
}

// gatewayStory has a registration, a failed one, one that is tried again, and a shortcode that passes to another
// organization.
func gatewayStory() *projectiontest.Story {
	configured := events.GatewayConfigured{
		OrgID: acme, Direct: true, Environment: "sandbox", Shortcode: "600777", CredentialsRef: keys, At: began,
	}
	flag, changed, taken := configured, configured, configured
	flag.RejectUnknownAccounts = true
	changed.Shortcode, changed.CredentialsRef = "600888", newKeys
	taken.OrgID = other
	third, thirdOrg := configured, id.Derive[id.Organization]("test", "third")
	third.OrgID, third.Shortcode = thirdOrg, "600999"
	return projectiontest.NewStory(acme, began).
		Add("gateway-acme", configured,
			events.GatewayRegistered{OrgID: acme, Shortcode: "600777", CredentialsRef: keys, At: began}, flag, changed,
			events.GatewayRegistrationFailed{OrgID: acme, Shortcode: "600888", CredentialsRef: newKeys,
				Error: "Bad credentials", Code: "provider_credentials_refused", At: began}).
		Add("gateway-third", third,
			events.GatewayRegistrationFailed{OrgID: thirdOrg, Shortcode: "600999", CredentialsRef: keys,
				Error: "Gone", Code: "provider_unavailable", At: began}, third).
		Add("gateway-other", taken,
			events.GatewayRegistered{OrgID: other, Shortcode: "600777", CredentialsRef: keys, At: began})
}

// Customers who came with old account numbers.
var (
	dora   = id.Derive[id.Subscriber]("test", "dora")
	esther = id.Derive[id.Subscriber]("test", "esther")
	farah  = id.Derive[id.Subscriber]("test", "farah")
)

// withAlias adds old account numbers to a customer.
func withAlias(e events.SubscriberRegistered, aliases ...string) events.SubscriberRegistered {
	e.Details.AccountAliases = personal.OfAll(aliases)
	return e
}

// payersStory has subscribers of two organizations with the same phone and the same username.
func payersStory() *projectiontest.Story {
	subscriber := func(
		s id.Subscriber, org id.Organization, account, phone string, c money.Currency,
	) events.SubscriberRegistered {
		return events.SubscriberRegistered{
			SubscriberID: s, OrgID: org, AccountNumber: account, Currency: c,
			Details: events.SubscriberDetails{FirstName: personal.Of("Somebody"), Phone: personal.Of(phone)},
		}
	}
	void := id.Derive[id.Invoice]("test", "void")
	plan := func(name string, s id.Subscriber, org id.Organization, username string) events.SubscriptionCreated {
		return events.SubscriptionCreated{
			SubscriptionID: id.Derive[id.Subscription]("test", name), OrgID: org, SubscriberID: s,
			Username: personal.Of(username),
		}
	}
	return projectiontest.NewStory(acme, began).
		Add("organization-acme", events.OrganizationCreated{OrgID: acme,
			Billing: events.BillingSettings{InvoicePrefix: "ACME"}}).
		Add("organization-other",
			events.OrganizationCreated{OrgID: other, Billing: events.BillingSettings{InvoicePrefix: "AC"}},
			events.BillingSettingsAdopted{OrgID: other, Billing: events.BillingSettings{InvoicePrefix: "OTH"}}).
		Add("subscriber-amina", subscriber(amina, acme, "10000008", "+254712345678", money.KES)).
		Add("subscriber-brian", subscriber(brian, acme, "10000016", "+254722222222", money.KES),
			events.SubscriberDetailsCorrected{SubscriberID: brian,
				Details: events.SubscriberDetails{Phone: personal.Of("+254733333333")}}).
		Add("subscriber-chege", subscriber(chege, other, "10000024", "+254733333333", money.KES)).
		Add("subscriber-dollars", subscriber(id.Derive[id.Subscriber]("test", "dollars"), acme, "10000032",
			"+254744444444", "USD")).
		Add("subscriber-dora", withAlias(subscriber(dora, acme, "10000040", "", money.KES), "ABC77")).
		Add("subscriber-esther", withAlias(subscriber(esther, acme, "10000057", "", money.KES), "20011", "7001")).
		Add("subscriber-farah", withAlias(subscriber(farah, other, "10000065", "", money.KES), "20011")).
		Add("subscription-1", plan("1", amina, acme, "Amina.Home")).
		Add("subscription-2", plan("2", brian, acme, "shop")).
		Add("subscription-3", plan("3", chege, other, "shop")).
		Add("account-amina", events.InvoiceIssued{SubscriberID: amina, OrgID: acme, InvoiceID: invoice,
			Number: "ACME-0007", Total: kes(10)}).
		Add("account-chege",
			events.InvoiceIssued{
				SubscriberID: chege, OrgID: other, InvoiceID: void, Number: "OTH-0001", Total: kes(10),
			},
			events.InvoiceVoided{SubscriberID: chege, InvoiceID: void, Number: "OTH-0001"})
}

func TestReadModels_StoriesEndInTheseRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p     runner.Projection
		story *projectiontest.Story
	}{
		{paymentsviews.Payments{}, paymentsStory()}, {paymentsviews.Receipts{}, paymentsStory()},
		{paymentsviews.Gateways{}, gatewayStory()}, {paymentsviews.Proof{}, paymentsStory()},
		{paymentsviews.Refunds{}, paymentsStory()},
		{paymentsviews.Matching{}, payersStory()},
	} {
		t.Run(c.p.Name(), func(t *testing.T) {
			t.Parallel()
			projectiontest.Check(t, c.p, c.story)
		})
	}
}
