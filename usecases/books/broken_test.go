package bookscases_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// where finds the first event of a type that a test is true for.
func where[E events.Event](w *world, log []events.Envelope, is func(E) bool) int {
	w.t.Helper()
	at := slices.IndexFunc(log, func(e events.Envelope) bool { v, ok := e.Event.(E); return ok && is(v) })
	if at < 0 {
		w.t.Fatalf("the story has no such %T", *new(E))
	}
	return at
}

// edited changes the first such event.
func edited[E events.Event](w *world, is func(E) bool, edit func(*E)) []events.Envelope {
	w.t.Helper()
	log := slices.Clone(w.log)
	at := where(w, log, is)
	v, _ := log[at].Event.(E)
	edit(&v)
	log[at].Event = v
	return log
}

// dropped leaves the first such event out.
func dropped[E events.Event](w *world, is func(E) bool) []events.Envelope {
	w.t.Helper()
	at := where(w, w.log, is)
	return slices.Delete(slices.Clone(w.log), at, at+1)
}

// appendDropped leaves out the first such event with all of its append.
func appendDropped[E events.Event](w *world, is func(E) bool) []events.Envelope {
	w.t.Helper()
	gone := w.log[where(w, w.log, is)]
	return without(w.log, func(e events.Envelope) bool {
		return e.Meta.CommandID == gone.Meta.CommandID && e.Stream == gone.Stream
	})
}

// streamDropped leaves out the whole stream of the first such event.
func streamDropped[E events.Event](w *world, is func(E) bool) []events.Envelope {
	w.t.Helper()
	gone := w.log[where(w, w.log, is)]
	return without(w.log, func(e events.Envelope) bool { return e.Stream == gone.Stream })
}

// repeated has the first such event twice; edit changes the second.
func repeated[E events.Event](w *world, is func(E) bool, edit func(*events.Envelope)) []events.Envelope {
	w.t.Helper()
	at := where(w, w.log, is)
	again := w.log[at]
	again.Meta.CommandID = id.New[id.Command]()
	edit(&again)
	return slices.Insert(slices.Clone(w.log), at+1, again)
}

// without leaves events out.
func without(log []events.Envelope, gone func(events.Envelope) bool) []events.Envelope {
	return slices.DeleteFunc(slices.Clone(log), gone)
}

// all is true for every event.
func all[E events.Event](E) bool { return true }

// as makes a test of events of one type about one thing.
func as[E events.Event, T comparable](of func(E) T, want T) func(E) bool {
	return func(e E) bool { return of(e) == want }
}

// broken is a log with one fault, and the code that it must be found under.
type broken struct {
	name string
	code bookscases.Code
	log  func(w *world) []events.Envelope
}

// ofAmina is true for credits on Amina's account.
func ofAmina(w *world) func(events.ReceiptCredited) bool {
	return func(e events.ReceiptCredited) bool { return e.SubscriberID == w.amina }
}

// brokenAccounts have faults in the sums of accounts.
func brokenAccounts() []broken {
	return []broken{
		{"a void that gives more back than was charged", bookscases.BalanceDiffers, func(w *world) []events.Envelope {
			return edited(w, func(e events.InvoiceVoided) bool { return e.WasIssued },
				func(e *events.InvoiceVoided) { e.Total = kes(1001) })
		}},
		{"a write-off that reaches no invoice", bookscases.BalanceDiffers, func(w *world) []events.Envelope {
			return edited(w, all[events.DebtWrittenOff], func(e *events.DebtWrittenOff) { e.Amount = kes(401) })
		}},
		{"a closing that forgets credit", bookscases.BalanceDiffers, func(w *world) []events.Envelope {
			return edited(w, as(func(e events.AccountPeriodClosed) id.Subscriber { return e.SubscriberID }, w.brian),
				func(e *events.AccountPeriodClosed) {
					e.Opening = bytes.Replace(e.Opening, []byte(`"lots"`), []byte(`"lost"`), 1)
				})
		}},
		{"a closing without the state", bookscases.StreamUnreadable, func(w *world) []events.Envelope {
			return edited(w, all[events.AccountPeriodClosed],
				func(e *events.AccountPeriodClosed) { e.Opening = []byte(`{}`) })
		}},
		{"a closing that is no JSON", bookscases.StreamUnreadable, func(w *world) []events.Envelope {
			return edited(w, all[events.SubscriptionPeriodClosed],
				func(e *events.SubscriptionPeriodClosed) { e.Opening = []byte(`lost`) })
		}},
		{"an event that tells too much due", bookscases.BooksToldWrong, func(w *world) []events.Envelope {
			return edited(w, as(func(e events.InvoiceIssued) int64 { return e.After.Due.Minor }, 70000),
				func(e *events.InvoiceIssued) { e.After.Due = kes(701) })
		}},
		{"an event that tells too much credit", bookscases.BooksToldWrong, func(w *world) []events.Envelope {
			return edited(w, all[events.SetAsidePaidOut],
				func(e *events.SetAsidePaidOut) { e.After.Credit = e.After.Credit.Add(kes(1)) })
		}},
	}
}

// brokenInvoices have faults in what money pays.
func brokenInvoices() []broken {
	return []broken{
		{"money that pays nothing", bookscases.CreditBesideDebt, func(w *world) []events.Envelope {
			log := dropped(w, all[events.InvoiceAllocated])
			at := where(w, log, all[events.InvoicePaid])
			return log[:at]
		}},
		{"a receipt of which more was used than it has", bookscases.ReceiptOverspent,
			func(w *world) []events.Envelope {
				return edited(w, all[events.ReceiptCredited], func(e *events.ReceiptCredited) { e.Amount = kes(999) })
			}},
		{"a closing that forgets what is unused of a receipt", bookscases.ReceiptOverspent,
			func(w *world) []events.Envelope {
				ofBrian := as(func(e events.AccountPeriodClosed) id.Subscriber { return e.SubscriberID }, w.brian)
				return edited(w, ofBrian, func(e *events.AccountPeriodClosed) {
					e.Opening = bytes.ReplaceAll(e.Opening, []byte(`"unused"`), []byte(`"lost"`))
				})
			}},
		{"money taken from an invoice that it does not pay", bookscases.ReceiptOverspent,
			func(w *world) []events.Envelope {
				return repeated(w, all[events.AllocationWithdrawn], func(*events.Envelope) {})
			}},
		{"an event that tells less due on an invoice", bookscases.InvoiceDueDiffers,
			func(w *world) []events.Envelope {
				return edited(w, all[events.InvoiceAllocated], func(e *events.InvoiceAllocated) { e.Due = kes(1) })
			}},
		{"an invoice that was issued over more than was drafted", bookscases.InvoiceDueDiffers,
			func(w *world) []events.Envelope {
				return edited(w, all[events.InvoiceIssued], func(e *events.InvoiceIssued) { e.Total = kes(1200) })
			}},
		{"a voided invoice with money on it", bookscases.InvoiceDueDiffers, func(w *world) []events.Envelope {
			return dropped(w, func(e events.AllocationWithdrawn) bool {
				return e.InvoiceID == commands.PeriodInvoice(w.sub, 6)
			})
		}},
		{"an invoice with nothing due that nobody paid", bookscases.InvoiceStateDiffers,
			func(w *world) []events.Envelope { return dropped(w, all[events.InvoicePaid]) }},
		{"a paid invoice with money due", bookscases.InvoiceStateDiffers, func(w *world) []events.Envelope {
			log := dropped(w, all[events.InvoiceReopened])
			return log[:where(w, log, all[events.PeriodWithdrawn])]
		}},
		{"an invoice that is cancelled by a part of it", bookscases.InvoiceStateDiffers,
			func(w *world) []events.Envelope {
				return edited(w, all[events.CreditNoteIssued],
					func(e *events.CreditNoteIssued) { e.Amount = kes(900) })
			}},
	}
}

// brokenReceipts have faults in receipts.
func brokenReceipts() []broken {
	return []broken{
		{"an account that credits a receipt again", bookscases.ReceiptCreditedTwice,
			func(w *world) []events.Envelope {
				return repeated(w, all[events.ReceiptCredited], func(*events.Envelope) {})
			}},
		{"a second account that credits a receipt", bookscases.ReceiptCreditedTwice,
			func(w *world) []events.Envelope {
				log := slices.Clone(w.log)
				again := log[where(w, log, ofAmina(w))]
				again.Meta.AggregateID, again.Meta.CommandID = id.As[id.Any](w.brian), id.New[id.Command]()
				return append(log, again)
			}},
		{"a reversed receipt that stays on its account", bookscases.ReceiptMisplaced,
			func(w *world) []events.Envelope { return appendDropped(w, all[events.ReceiptWithdrawn]) }},
		{"a receipt in suspense that stays on its account", bookscases.ReceiptMisplaced,
			func(w *world) []events.Envelope {
				log := slices.Clone(w.log)
				held := log[where(w, log, all[events.ReceiptMatched])]
				held.Event = events.ReceiptHeld{Reason: commands.HeldNotCredited}
				return append(log, held)
			}},
		{"a receipt of another amount than its credit", bookscases.ReceiptAmountDiffers,
			func(w *world) []events.Envelope {
				return edited(w, all[events.ReceiptRecorded], func(e *events.ReceiptRecorded) { e.Amount = kes(999) })
			}},
		{"an account that gave a receipt back", bookscases.ReceiptLost,
			func(w *world) []events.Envelope { return dropped(w, all[events.ReceiptReversed]) }},
		{"a refund that the receipt was not told of", bookscases.RefundDiffers,
			func(w *world) []events.Envelope { return dropped(w, all[events.ReceiptRefunded]) }},
		{"money without a receipt", bookscases.ReceiptUnknown,
			func(w *world) []events.Envelope { return streamDropped(w, all[events.ReceiptMatched]) }},
		{"money of a receipt of another organization", bookscases.ReceiptUnknown,
			func(w *world) []events.Envelope {
				log := edited(w, all[events.ReceiptRecorded],
					func(e *events.ReceiptRecorded) { e.OrgID = id.New[id.Organization]() })
				return log
			}},
	}
}

// brokenPlaces have faults in where receipts wait.
func brokenPlaces() []broken {
	return []broken{
		{"an absorbed receipt that nobody carries", bookscases.CarrierMissing,
			func(w *world) []events.Envelope {
				return edited(w, all[events.ReceiptAbsorbed],
					func(e *events.ReceiptAbsorbed) { e.ProvisionalReceiptID = id.New[id.Receipt]() })
			}},
		{"an absorbed receipt that carries itself", bookscases.CarrierMissing, func(w *world) []events.Envelope {
			return edited(w, all[events.ReceiptAbsorbed],
				func(e *events.ReceiptAbsorbed) { e.ProvisionalReceiptID = e.ReceiptID })
		}},
		{"an absorbed receipt of more than its carrier", bookscases.CarrierMissing,
			func(w *world) []events.Envelope {
				return edited(w, all[events.ReceiptAbsorbed], func(e *events.ReceiptAbsorbed) { e.Amount = kes(1001) })
			}},
		{"a receipt whose payer nobody searches for", bookscases.ReceiptWaitsForPayer,
			func(w *world) []events.Envelope {
				return without(w.log, func(e events.Envelope) bool {
					_, heldBack := e.Event.(events.ReceiptHeld)
					return heldBack
				})
			}},
		{"a matched receipt without its credit", bookscases.ReceiptWaitsForCredit,
			func(w *world) []events.Envelope { return appendDropped(w, all[events.ReceiptCredited]) }},
		{"a moved receipt without its credit", bookscases.ReceiptWaitsForCredit, func(w *world) []events.Envelope {
			return appendDropped(w, func(e events.ReceiptCredited) bool { return e.Move == 1 })
		}},
	}
}

// brokenCounts have faults that only one of several comparisons can find.
func brokenCounts() []broken {
	fourth := as(func(e events.SubscriptionExtended) int { return e.Ordinal }, 4)
	return []broken{
		{"credit notes over more than their invoice", bookscases.InvoiceDueDiffers, func(w *world) []events.Envelope {
			return edited(w, all[events.CreditNoteIssued], func(e *events.CreditNoteIssued) { e.Amount = kes(1100) })
		}},
		{"money on an invoice that was never issued", bookscases.InvoiceDueDiffers,
			func(w *world) []events.Envelope { return dropped(w, all[events.InvoiceIssued]) }},
		{"a refund out of money that has moved away", bookscases.ReceiptExceeded, func(w *world) []events.Envelope {
			log := slices.Clone(w.log)
			back := log[where(w, log, all[events.ReceiptReattributed])]
			moved, _ := back.Event.(events.ReceiptReattributed)
			back.Stream = commands.AccountCategory + "-" + moved.From.String()
			back.Meta.AggregateID, back.Meta.CommandID = id.As[id.Any](moved.From), id.New[id.Command]()
			back.Event = events.CreditSetAside{SubscriberID: moved.From, ReceiptID: moved.ReceiptID, Amount: kes(1)}
			return append(log, back)
		}},
		{"parts of a receipt that was moved as a whole", bookscases.ReceiptExceeded,
			func(w *world) []events.Envelope {
				moved, _ := w.log[where(w, w.log, all[events.ReceiptReattributed])].Event.(events.ReceiptReattributed)
				return edited(w, as(func(e events.ReceiptWithdrawn) id.Receipt { return e.ReceiptID }, moved.ReceiptID),
					func(e *events.ReceiptWithdrawn) { e.WithdrawalID = id.New[id.Withdrawal]() })
			}},
		{"a write-off over more than the debt", bookscases.ReceiptOverspent, func(w *world) []events.Envelope {
			return edited(w, all[events.DebtWrittenOff], func(e *events.DebtWrittenOff) { e.Amount = kes(401) })
		}},
		{"a credit of a later move on top of the first", bookscases.ReceiptCreditedTwice,
			func(w *world) []events.Envelope {
				return repeated(w, all[events.ReceiptCredited], func(e *events.Envelope) {
					again, _ := e.Event.(events.ReceiptCredited)
					again.Move = 1
					e.Event = again
				})
			}},
		{"a moved receipt that was credited as before its move", bookscases.ReceiptWaitsForCredit,
			func(w *world) []events.Envelope {
				return edited(w, as(func(e events.ReceiptCredited) int { return e.Move }, 1),
					func(e *events.ReceiptCredited) { e.Move = 0 })
			}},
		{"an hour that the rules do not give", bookscases.PaidUntilDiffers, func(w *world) []events.Envelope {
			log := edited(w, fourth, func(e *events.SubscriptionExtended) {
				e.To, e.PaidUntil = e.To.Add(time.Hour), e.To.Add(time.Hour)
			})
			return log[:where(w, log, fourth)+1]
		}},
	}
}

// brokenPrompts have faults in prompts.
func brokenPrompts() []broken {
	return []broken{
		{"a prompt that never ends", bookscases.PromptWithoutVerdict,
			func(w *world) []events.Envelope { return dropped(w, all[events.PaymentExpired]) }},
		{"a success without a receipt", bookscases.PromptWithoutReceipt,
			func(w *world) []events.Envelope { return streamDropped(w, all[events.ReceiptAbsorbed]) }},
		{"a success over another amount", bookscases.PromptAmountDiffers, func(w *world) []events.Envelope {
			return edited(w, all[events.PaymentInitiated], func(e *events.PaymentInitiated) { e.Amount = kes(1) })
		}},
		{"a prompt that does not know its receipt", bookscases.ReceiptUnknownToPrompt,
			func(w *world) []events.Envelope { return dropped(w, all[events.PaymentSucceeded]) }},
		{"a receipt of a prompt that does not exist", bookscases.ReceiptUnknownToPrompt,
			func(w *world) []events.Envelope { return streamDropped(w, all[events.PaymentSucceeded]) }},
		{"an absorbed receipt that its prompt does not know", bookscases.ReceiptUnknownToPrompt,
			func(w *world) []events.Envelope { return dropped(w, all[events.ProvisionalClaimed]) }},
		{"a provisional receipt beside its real one", bookscases.PaymentCreditedTwice, bothMatched},
		{"a reservation that outlives its prompt", bookscases.ReservationStale, func(w *world) []events.Envelope {
			return dropped(w, all[events.PromptReleased])
		}},
		{"a reservation for a prompt that never began", bookscases.ReservationStale,
			func(w *world) []events.Envelope {
				log := streamDropped(w, all[events.PaymentExpired])
				return slices.Delete(log, len(log)-1-slices.IndexFunc(reversed(log), released), len(log))
			}},
	}
}

// reversed is the log backwards.
func reversed(log []events.Envelope) []events.Envelope {
	log = slices.Clone(log)
	slices.Reverse(log)
	return log
}

// released reports whether an event gives the reservation of a prompt back.
func released(e events.Envelope) bool { _, ok := e.Event.(events.PromptReleased); return ok }

// brokenPeriods have faults in subscriptions.
func brokenPeriods() []broken {
	fourth := func(w *world) func(events.SubscriptionExtended) bool {
		return as(func(e events.SubscriptionExtended) int { return e.Ordinal }, 4)
	}
	return []broken{
		{"a month that nobody paid", bookscases.PaidUntilDiffers, func(w *world) []events.Envelope {
			log := edited(w, fourth(w), func(e *events.SubscriptionExtended) { e.To = e.To.AddDate(0, 1, 0) })
			return log[:where(w, log, fourth(w))+1]
		}},
		{"an event that tells more paid time", bookscases.PaidUntilDiffers, func(w *world) []events.Envelope {
			log := edited(w, fourth(w), func(e *events.SubscriptionExtended) {
				e.PaidUntil = e.PaidUntil.Add(time.Second)
			})
			return log[:where(w, log, fourth(w))+1]
		}},
		{"a period of two months", bookscases.PeriodLengthDiffers, func(w *world) []events.Envelope {
			return edited(w, fourth(w), func(e *events.SubscriptionExtended) { e.To = e.To.AddDate(0, 1, 0) })
		}},
		{"a period of a week", bookscases.PeriodLengthDiffers, func(w *world) []events.Envelope {
			return edited(w, fourth(w), func(e *events.SubscriptionExtended) { e.To = e.From.AddDate(0, 0, 7) })
		}},
		{"a period that gives time again", bookscases.PeriodsOverlap, func(w *world) []events.Envelope {
			return edited(w, fourth(w), func(e *events.SubscriptionExtended) { e.From = e.From.Add(-time.Second) })
		}},
		{"a paid period whose invoice is credited whole", bookscases.PeriodStateDiffers,
			func(w *world) []events.Envelope {
				return dropped(w, as(func(e events.PeriodCancelled) int { return e.Ordinal }, 3))
			}},
		{"a paid invoice whose period is due", bookscases.PeriodStateDiffers, func(w *world) []events.Envelope {
			return dropped(w, fourth(w))
		}},
		{"a paid period whose invoice is due", bookscases.PeriodStateDiffers, func(w *world) []events.Envelope {
			log := dropped(w, all[events.PeriodWithdrawn])
			return log[:where(w, log, as(func(e events.ReceiptCredited) int { return e.Move }, 1))]
		}},
		{"a voided invoice whose period is due", bookscases.PeriodStateDiffers, func(w *world) []events.Envelope {
			return dropped(w, as(func(e events.PeriodCancelled) int { return e.Ordinal }, 5))
		}},
		{"a cancelled period whose invoice is paid", bookscases.PeriodStateDiffers,
			func(w *world) []events.Envelope {
				log := slices.Clone(w.log)
				gone := log[where(w, log, fourth(w))]
				gone.Event = events.PeriodCancelled{
					SubscriptionID: w.sub, InvoiceID: commands.PeriodInvoice(w.sub, 4), Ordinal: 4,
				}
				return append(log, gone)
			}},
	}
}

// brokenNumbers have faults in numbers and in unique values.
func brokenNumbers() []broken {
	third := as(func(e events.NumberGranted) int64 { return e.Seq }, 3)
	return []broken{
		{"a number that was left out", bookscases.NumberGap,
			func(w *world) []events.Envelope { return dropped(w, third) }},
		{"a series that does not begin with 1", bookscases.NumberGap,
			func(w *world) []events.Envelope { return dropped(w, all[events.NumberGranted]) }},
		{"a number that was granted twice", bookscases.NumberRepeated, func(w *world) []events.Envelope {
			return edited(w, third, func(e *events.NumberGranted) { e.Number = "ACME-0002" })
		}},
		{"a number on two documents", bookscases.NumberRepeated, func(w *world) []events.Envelope {
			return edited(w, as(func(e events.InvoiceIssued) string { return e.Number }, "ACME-0003"),
				func(e *events.InvoiceIssued) { e.Number = "ACME-0002" })
		}},
		{"a number on no document", bookscases.NumberWithoutDocument, func(w *world) []events.Envelope {
			return edited(w, all[events.InvoiceIssued], func(e *events.InvoiceIssued) { e.Number = "" })
		}},
		{"a number on the wrong document", bookscases.NumberOfOtherDocument, func(w *world) []events.Envelope {
			return edited(w, third, func(e *events.NumberGranted) { e.DocumentID = id.New[id.Any]() })
		}},
		{"a credit note with a number of its own", bookscases.DocumentWithoutNumber,
			func(w *world) []events.Envelope {
				return edited(w, all[events.CreditNoteIssued],
					func(e *events.CreditNoteIssued) { e.Number = "ACME-CN-0099" })
			}},
		{"a voided number that was never granted", bookscases.DocumentWithoutNumber,
			func(w *world) []events.Envelope {
				return edited(w, all[events.InvoiceVoided], func(e *events.InvoiceVoided) { e.Number = "ACME-0099" })
			}},
		{"an account number of nobody", bookscases.ClaimWithoutOwner,
			func(w *world) []events.Envelope { return streamDropped(w, all[events.SubscriberRegistered]) }},
		{"a username that its owner gave up", bookscases.ClaimWithoutOwner, func(w *world) []events.Envelope {
			return dropped(w, all[events.ClaimReleased])
		}},
		{"an account number that is not reserved", bookscases.ClaimMissing, func(w *world) []events.Envelope {
			return dropped(w, as(func(e events.ClaimTaken) string { return e.Kind }, "account_number"))
		}},
		{"a slug that is reserved for somebody else", bookscases.ClaimOfSomebodyElse,
			func(w *world) []events.Envelope {
				return edited(w, as(func(e events.ClaimTaken) string { return e.Kind }, "slug"),
					func(e *events.ClaimTaken) { e.Owner = id.New[id.Any]() })
			}},
	}
}

// TestBooks_EachBrokenBookIsFound: every code has at least one log that shows it, with what it concerns.
func TestBooks_EachBrokenBookIsFound(t *testing.T) {
	t.Parallel()
	shown := map[bookscases.Code]bool{}
	for _, c := range slices.Concat(brokenAccounts(), brokenInvoices(), brokenReceipts(), brokenPlaces(),
		brokenCounts(), brokenPrompts(), brokenPeriods(), brokenServices(), brokenNumbers()) {
		shown[c.code] = true
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := story(t)
			found := w.faults(c.log(w))
			at := slices.IndexFunc(found, func(f bookscases.Fault) bool { return f.Code == c.code })
			if at < 0 {
				t.Fatalf("no %s in %v", c.code, found)
			}
			inParts := func(f bookscases.Fault) bool {
				return f.Code == c.code || c.code == bookscases.InvoiceOfOtherCustomer &&
					f.Code == bookscases.InvoiceWithoutPeriod // the other customer can be in another part
			}
			if parts := w.partFaults(c.log(w)); !slices.ContainsFunc(parts, inParts) {
				t.Errorf("no %s in the parts: %v", c.code, parts)
			}
			if f := found[at]; len(f.About) == 0 || f.About[0].ID.IsZero() || f.Detail == "" {
				t.Errorf("the fault does not tell what it concerns: %+v", f)
			}
		})
	}
	for _, code := range bookscases.Codes() {
		if !shown[code] {
			t.Errorf("no broken book shows %s", code)
		}
	}
}
