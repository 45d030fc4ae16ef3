package provider

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/loop"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// promptRequest is the body of an STK push. Source: docs/facts/mobile-money.md#payment-prompt.
type promptRequest struct {
	BusinessShortCode text
	Password          text
	Timestamp         text
	TransactionType   text
	Amount            text
	PartyA            text
	PartyB            text
	PhoneNumber       text
	CallBackURL       text
	AccountReference  text
	TransactionDesc   text
}

// Limits of a prompt, and codes. Source: docs/facts/mobile-money.md#payment-prompt.
const (
	maxPrompt         = 250_000
	maxReference      = 12
	maxDescription    = 13
	badRequestCode    = "400.002.02"
	maxBillRef        = 20
	stillProcessing   = "500.001.1001"
	wrongCredentials  = "500.001.1001" // the provider uses one code for both
	undecidedVerdict  = 4999
	acceptedCode      = "0"
	acceptedText      = "Success. Request accepted for processing"
	promptTransaction = "CustomerPayBillOnline"
)

// msisdnShape is the only form of a phone that the provider accepts.
var msisdnShape = regexp.MustCompile(`^254[0-9]{9}$`)

// fault names the first wrong field of a prompt, in the provider's words; "" when all are right.
func (q promptRequest) fault() string {
	whole, err := strconv.ParseInt(string(q.Amount), 10, 64)
	switch {
	case q.BusinessShortCode == "":
		return "Invalid BusinessShortCode"
	case q.TransactionType != promptTransaction && q.TransactionType != "CustomerBuyGoodsOnline":
		return "Invalid TransactionType"
	case err != nil || whole < 1 || whole > maxPrompt:
		return "Invalid Amount"
	case !msisdnShape.MatchString(string(q.PartyA)):
		return "Invalid PartyA"
	case q.PhoneNumber != q.PartyA:
		return "Invalid PhoneNumber"
	case q.PartyB == "":
		return "Invalid PartyB"
	case !loopbackURL(string(q.CallBackURL)) || forbiddenWord(string(q.CallBackURL)) != "":
		return "Invalid CallBackURL"
	case q.AccountReference == "" || len(q.AccountReference) > maxReference:
		return "Invalid AccountReference"
	case q.TransactionDesc == "" || len(q.TransactionDesc) > maxDescription:
		return "Invalid TransactionDesc"
	}
	return ""
}

// checkPassword refuses a request whose password is not base64(shortcode + passkey + timestamp); the answer is sent
// when the result is false. The passkey itself can be checked only for a known set of credentials.
func (s *Simulator) checkPassword(w http.ResponseWriter, r *http.Request, shortCode, password, timestamp string) bool {
	if _, err := time.Parse(stampLayout, timestamp); err != nil {
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid Timestamp")
		return false
	}
	plain, err := base64.StdEncoding.DecodeString(password)
	rest, found := strings.CutPrefix(string(plain), shortCode)
	passkey, stamped := strings.CutSuffix(rest, timestamp)
	if err != nil || !found || !stamped || passkey == "" {
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid Password")
		return false
	}
	key, _ := s.caller(r)
	s.mu.Lock()
	known := s.book.credentials[key]
	s.mu.Unlock()
	if !s.mayUse(r, shortCode) || known.Passkey != "" && known.Passkey != passkey {
		s.refuse(w, http.StatusInternalServerError, wrongCredentials, "Wrong credentials")
		return false
	}
	return true
}

// promptPayer answers an STK push: it accepts the prompt and starts the payer's script.
func (s *Simulator) promptPayer(w http.ResponseWriter, r *http.Request) {
	q, ok := decode[promptRequest](s, w, r)
	if !ok {
		return
	}
	if fault := q.fault(); fault != "" {
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - "+fault)
		return
	}
	if !s.checkPassword(w, r, string(q.BusinessShortCode), string(q.Password), string(q.Timestamp)) {
		return
	}
	p, steps, f := s.accept(q)
	s.log.Info("prompt accepted", "checkout_request_id", p.checkoutID, "short_code", p.shortCode)
	if f.CallbackBeforeResponse && len(steps) > 0 {
		s.send(r.Context(), s.settle(p, steps[0].code))
		steps = steps[1:]
	}
	s.play(p, steps)
	if s.lost(f, p) || !loop.Sleep(s.run, time.Duration(f.LateResponseMs)*time.Millisecond) {
		panic(http.ErrAbortHandler)
	}
	answer(w, http.StatusOK, map[string]string{
		"MerchantRequestID": p.merchantID, "CheckoutRequestID": p.checkoutID, "ResponseCode": acceptedCode,
		"ResponseDescription": acceptedText, "CustomerMessage": acceptedText,
	})
}

// accept records a prompt and gives the script of its payer and the present faults.
func (s *Simulator) accept(q promptRequest) (*prompt, []step, Faults) {
	whole, _ := strconv.ParseInt(string(q.Amount), 10, 64) // checked by fault
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &prompt{
		checkoutID: s.book.id("ws_CO_"), merchantID: s.book.id("mr-"),
		shortCode: string(q.BusinessShortCode), msisdn: string(q.PartyA), amount: money.Major(whole, money.KES),
		reference: string(q.AccountReference), callbackURL: string(q.CallBackURL), at: s.cfg.Clock.Now(),
	}
	s.book.prompts[p.checkoutID] = p
	s.book.promptOrder = append(s.book.promptOrder, p)
	return p, s.book.phone(p.msisdn).script(s.cfg), s.book.faults
}

// lost decides, by LoseResponse, whether the answer to a prompt is lost.
func (s *Simulator) lost(f Faults, p *prompt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.book.happens(f.LoseResponse, "lose "+p.checkoutID)
}

// queryRequest is the body of a status query. Source: docs/facts/mobile-money.md#status-query.
type queryRequest struct {
	BusinessShortCode text
	Password          text
	Timestamp         text
	CheckoutRequestID text
}

// queryPrompt answers a status query. For an open prompt it alternates between the two answers that mean "no verdict".
func (s *Simulator) queryPrompt(w http.ResponseWriter, r *http.Request) {
	q, ok := decode[queryRequest](s, w, r)
	if !ok || !s.checkPassword(w, r, string(q.BusinessShortCode), string(q.Password), string(q.Timestamp)) {
		return
	}
	s.mu.Lock()
	p := s.book.prompts[string(q.CheckoutRequestID)]
	known := p != nil && p.shortCode == string(q.BusinessShortCode)
	code, asked := undecidedVerdict, 0
	if known && p.settled {
		code = p.code
	} else if known {
		p.queries++
		asked = p.queries
	}
	s.mu.Unlock()
	switch {
	case !known:
		s.refuse(w, http.StatusBadRequest, badRequestCode, "Bad Request - Invalid CheckoutRequestID")
	case asked%2 == 0 && asked > 0:
		s.refuse(w, http.StatusInternalServerError, stillProcessing, "The transaction is being processed")
	default:
		answer(w, http.StatusOK, map[string]string{
			"ResponseCode": acceptedCode, "ResponseDescription": "The service request has been accepted successsfully",
			"MerchantRequestID": p.merchantID, "CheckoutRequestID": p.checkoutID,
			"ResultCode": fmt.Sprint(code), "ResultDesc": resultText(code),
		})
	}
}
