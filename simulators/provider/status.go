package provider

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/money"
)

// statusRequest has the fields of a transaction status request that the simulator uses.
// Source: docs/facts/mobile-money.md#asynchronous-calls.
type statusRequest struct {
	Initiator                text
	SecurityCredential       text
	TransactionID            text
	OriginatorConversationID text
	PartyA                   text
	ResultURL                text
	QueueTimeOutURL          text
}

// reversalRequest has the fields of a reversal that the simulator uses; the provider misspells one of them.
type reversalRequest struct {
	Initiator              text
	SecurityCredential     text
	TransactionID          text
	Amount                 text
	ReceiverParty          text
	RecieverIdentifierType text
	ResultURL              text
	QueueTimeOutURL        text
}

// reversal is one that the provider took, with its end.
type reversal struct {
	shortCode string
	original  string // the receipt number of the payment
	number    string // of the payment back; "" when nothing went back
	amount    money.Amount
	code      string // ResultCode
}

// Result codes of status requests and reversals.
const (
	resultUnknown  = "2001"
	resultRefused  = "2028"
	resultReversed = "R000001" // the payment was sent back before
	resultNoSuch   = "R000002"
)

// parameterOf is one entry of a posted result.
type parameterOf struct {
	Key   string
	Value any
}

// queryTransaction accepts a transaction status request; the result is posted to ResultURL in the background.
func (s *Simulator) queryTransaction(w http.ResponseWriter, r *http.Request) {
	q, ok := decode[statusRequest](s, w, r)
	if !ok {
		return
	}
	switch {
	case q.TransactionID == "" && q.OriginatorConversationID == "" || !loopbackURL(string(q.ResultURL)):
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid TransactionID or ResultURL")
		return
	case forbiddenWord(string(q.ResultURL)) != "" || forbiddenWord(string(q.QueueTimeOutURL)) != "":
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid ResultURL")
		return
	case q.Initiator == "" || q.SecurityCredential == "" || !s.mayUse(r, string(q.PartyA)):
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid Initiator or PartyA")
		return
	}
	s.mu.Lock()
	origin, conversation := s.book.id("oc-"), s.book.id("AG_")
	result := map[string]any{
		"ResultType": 0, "ResultCode": resultUnknown, "ResultDesc": "The transaction does not exist.",
		"TransactionID": s.book.receiptNumber(), "OriginatorConversationID": origin, "ConversationID": conversation,
	}
	if list := s.book.statusOf(q); list != nil {
		result["ResultCode"], result["ResultDesc"] = 0, resultText(0)
		result["ResultParameters"] = map[string]any{"ResultParameter": list}
	}
	s.mu.Unlock()
	s.post([]callback{
		{kind: "status", id: conversation, url: string(q.ResultURL), body: map[string]any{"Result": result}},
	})
	acknowledge(w, origin, conversation)
}

// acknowledge answers that a result will be posted.
func acknowledge(w http.ResponseWriter, origin, conversation string) {
	answer(w, http.StatusOK, map[string]string{
		"OriginatorConversationID": origin, "ConversationID": conversation, "ResponseCode": acceptedCode,
		"ResponseDescription": "Accept the service request successfully.",
	})
}

// statusOf gives what is told of a transaction, nil when the asking shortcode has none like it. The lock is held.
func (b *book) statusOf(q statusRequest) []parameterOf {
	number := strings.ToUpper(string(q.TransactionID))
	if origin := string(q.OriginatorConversationID); number == "" {
		for _, p := range b.promptOrder {
			if p.merchantID == origin {
				number = p.receipt
			}
		}
		if back := b.reversals[origin]; back != nil && back.number != "" && back.shortCode == string(q.PartyA) {
			return b.reversalStatus(*back)
		}
	}
	for _, t := range b.transactions {
		if t.ReceiptNumber != number || string(q.PartyA) != t.ShortCode {
			continue
		}
		status := "Completed"
		if t.State == "reversed" {
			status = "Reversed"
		}
		return []parameterOf{
			{"ReceiptNo", t.ReceiptNumber}, {"Amount", t.Amount}, {"TransactionStatus", status},
			{"FinalisedTime", eat(t.At, stampLayout)},
			{"DebitPartyName", t.MSISDN + " - " + fullName(b.phone(t.MSISDN))},
			{"CreditPartyName", t.ShortCode + " - ISP"},
		}
	}
	return nil
}

// fullName is the name that the provider has for a phone.
func fullName(p Phone) string {
	name := strings.Join(strings.Fields(p.FirstName+" "+p.MiddleName+" "+p.LastName), " ")
	return cmp.Or(name, "CUSTOMER")
}

// reversalStatus tells of a payment back. The lock is held.
func (b *book) reversalStatus(back reversal) []parameterOf {
	return []parameterOf{
		{"ReceiptNo", back.number}, {"Amount", Amount{back.amount}}, {"TransactionStatus", "Completed"},
		{"OriginalTransactionID", back.original},
	}
}

// reverse takes a reversal: the money goes back at once, and the result is posted in the background.
func (s *Simulator) reverse(w http.ResponseWriter, r *http.Request) {
	q, ok := decode[reversalRequest](s, w, r)
	if !ok {
		return
	}
	switch {
	case q.TransactionID == "" || !loopbackURL(string(q.ResultURL)) || !loopbackURL(string(q.QueueTimeOutURL)):
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid TransactionID or ResultURL")
		return
	case q.RecieverIdentifierType != "11" || !s.mayUse(r, string(q.ReceiverParty)):
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid ReceiverParty")
		return
	case q.Initiator == "" || q.SecurityCredential == "":
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid Initiator")
		return
	}
	s.mu.Lock()
	origin, conversation := s.book.id("oc-"), s.book.id("AG_")
	back := s.book.sendBack(q)
	s.book.reversals[origin] = &back
	faults := s.book.faults
	lost := s.book.happens(faults.LoseReversal, "lose reversal "+conversation)
	s.mu.Unlock()
	s.log.Info("reversal taken", "short_code", back.shortCode, "result_code", back.code)
	s.post(reversalCallbacks(q, back, origin, conversation, faults))
	if lost {
		panic(http.ErrAbortHandler)
	}
	acknowledge(w, origin, conversation)
}

// sendBack moves the money of a payment back, once. The lock is held.
func (b *book) sendBack(q reversalRequest) reversal {
	back := reversal{
		shortCode: string(q.ReceiverParty), original: strings.ToUpper(string(q.TransactionID)), code: resultNoSuch,
	}
	amount, err := money.Parse(string(q.Amount), money.KES)
	for i := range b.transactions {
		t := &b.transactions[i]
		switch {
		case t.ReceiptNumber != back.original || t.ShortCode != back.shortCode:
		case t.State == "reversed":
			back.code = resultReversed
		case err != nil || amount != t.Amount.Amount || b.faults.RefuseReversals:
			back.code = resultRefused
		default:
			t.State, t.ReversalNumber = "reversed", b.receiptNumber()
			b.balances[t.ShortCode] = b.balances[t.ShortCode].Sub(t.Amount.Amount)
			back.number, back.amount, back.code = t.ReversalNumber, t.Amount.Amount, "0"
		}
	}
	return back
}

// reversalCallbacks are the messages about a reversal.
func reversalCallbacks(q reversalRequest, back reversal, origin, conversation string, f Faults) []callback {
	result := map[string]any{
		"ResultType": 0, "ResultCode": back.code, "ResultDesc": "The request was not done.",
		"TransactionID": back.number, "OriginatorConversationID": origin, "ConversationID": conversation,
	}
	if back.code == "0" {
		result["ResultDesc"] = resultText(0)
		result["ResultParameters"] = map[string]any{"ResultParameter": []parameterOf{
			{"Amount", Amount{back.amount}}, {"OriginalTransactionID", back.original},
		}}
	}
	list := []callback{
		{kind: "reversal", id: conversation, url: string(q.ResultURL), body: map[string]any{"Result": result}},
	}
	if f.TimeOutReversals {
		list = append([]callback{{
			kind: "reversal_timeout", id: conversation, url: string(q.QueueTimeOutURL), body: map[string]any{
				"Result": map[string]any{
					"ResultType": 1, "ResultCode": "1", "ResultDesc": "The request timed out in the queue.",
					"OriginatorConversationID": origin, "ConversationID": conversation,
				},
			},
		}}, list...)
	}
	return list
}
