package mobilemoney

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// Status is the meaning of a result code. Source: docs/rules/payments.md#result-codes, docs/rules/payments.md#verdicts.
type Status string

// The meanings. NoVerdict changes nothing about the payment; a Pending code may still change
// (docs/rules/payments.md#result-codes).
const (
	Success   Status = "success"
	Cancelled Status = "cancelled"
	Pending   Status = "pending"
	Failed    Status = "failed"
	NoVerdict Status = "no_verdict"
)

// Verdict is a result code with its meaning and the provider's text.
type Verdict struct {
	Status Status
	Code   string // the provider's
	Text   string // the provider's
}

// VerdictOf classifies a result code. An unknown code means Failed.
func VerdictOf(code, words string) Verdict {
	v := Verdict{Status: Failed, Code: code, Text: words}
	switch code {
	case "0":
		v.Status = Success
	case "1032":
		v.Status = Cancelled
	case "1019", "1025", "1037":
		v.Status = Pending
	case "4999", codeStillProcessing:
		v.Status = NoVerdict
	}
	return v
}

// queryBody is a status query on the wire. Source: docs/facts/mobile-money.md#status-query.
type queryBody struct {
	BusinessShortCode string
	Password          string
	Timestamp         string
	CheckoutRequestID string
}

// queryReply is the answer on the wire. An empty ResultCode is not a verdict.
type queryReply struct {
	CheckoutRequestID   text
	ResponseCode        text
	ResponseDescription text
	ResultCode          text
	ResultDesc          text
}

// QueryPrompt asks for the result of a prompt. An error means that the query itself failed and says nothing about the
// payment: failure.Refused with the provider's words, or failure.Unavailable.
func (c *Client) QueryPrompt(ctx context.Context, creds Credentials, checkoutRequestID string) (Verdict, error) {
	if err := creds.checkPrompting(); err != nil {
		return Verdict{}, err
	}
	if checkoutRequestID == "" {
		return Verdict{}, failure.NewInvalid("invalid_input", "checkoutRequestId is required")
	}
	password, timestamp := creds.password(c.endpoint.clock.Now())
	res := c.authorised(ctx, "query", pathQuery, creds, queryBody{
		BusinessShortCode: creds.ShortCode, Password: password, Timestamp: timestamp,
		CheckoutRequestID: checkoutRequestID,
	})
	if res.err != nil {
		return Verdict{}, res.failed("query prompt")
	}
	if refusal := res.refusal(); refusal != nil {
		if refusal.Code == codeStillProcessing {
			return VerdictOf(refusal.Code, refusal.Message), nil
		}
		return Verdict{}, res.failed("query prompt")
	}
	var reply queryReply
	if json.Unmarshal(res.body, &reply) != nil || res.status != http.StatusOK || reply.ResultCode == "" {
		return Verdict{}, res.failed("query prompt")
	}
	if reply.CheckoutRequestID != "" && string(reply.CheckoutRequestID) != checkoutRequestID {
		return Verdict{}, unavailable(fmt.Errorf("query prompt: the answer is about another one"))
	}
	return VerdictOf(string(reply.ResultCode), string(reply.ResultDesc)), nil
}
