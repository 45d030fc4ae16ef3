package paymentsapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/httpapi"
)

// CallbackReceiver stores each of the provider's callbacks before it answers, also one that it cannot verify. Source:
// docs/rules/payments.md#stored-first.
type CallbackReceiver interface {
	// Receive stores a callback of a kind that came at the address of a token ("" for the bare one), and gives the
	// answer. admit counts it against the rate limit of its gateway. Fails: source_not_allowed, malformed_callback,
	// rate_limited.
	Receive(ctx context.Context, kind, token, ip string, body []byte, admit func(gateway string) error) (any, error)
}

// Webhooks serves the addresses that the payment provider calls. They are the same on every host: token and shortcode
// say whose money it is, never the host.
type Webhooks struct{ Receiver CallbackReceiver }

// callbackBodyLimit bounds a callback's body. Real ones are under 2 KiB.
const callbackBodyLimit = 64 << 10

// callbackAnswer has the form that the provider expects: after another one it sends the callback again.
type callbackAnswer struct {
	ResultCode int
	ResultDesc string
}

// validationAnswer accepts a paybill payment or refuses it, in the form that the provider expects.
type validationAnswer struct {
	ResultCode        string `doc:"0, or C2B00011 to C2B00016"`
	ResultDesc        string
	ThirdPartyTransID string `json:",omitempty"`
}

// billManagerAnswer has the form that the bill manager expects.
type billManagerAnswer struct {
	Message string `json:"resmsg"`
	Code    string `json:"rescode"`
}

// Routes lists the addresses, each without and with a secret token: docs/rules/payments.md#callback-endpoints.
func (a Webhooks) Routes() []httpapi.Route {
	var routes []httpapi.Route
	add := func(path, kind, summary string, response any) {
		for _, p := range []string{path, path + "/:token"} {
			routes = append(routes, httpapi.Route{
				Method: "POST", Path: p, Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic, Summary: summary,
				BodyLimit: callbackBodyLimit, Response: response, Handle: a.receive(kind),
			})
		}
	}
	add("/webhooks/mobile-money/stk", "stk", "Result of a payment prompt", callbackAnswer{})
	add("/webhooks/mobile-money/c2b/validation", "c2b_validation", "May this paybill payment go through?",
		validationAnswer{})
	add("/webhooks/mobile-money/c2b/confirmation", "c2b_confirmation", "A paybill payment went through",
		callbackAnswer{})
	for path, kind := range map[string]string{"result": "result", "timeout": "result_timeout"} {
		routes = append(routes, httpapi.Route{
			Method: "POST", Path: "/webhooks/mobile-money/" + path + "/:token", Hosts: httpapi.OnEvery,
			Access: httpapi.AccessPublic, Summary: "Outcome (" + path + ") of a request to the provider",
			BodyLimit: callbackBodyLimit, Response: callbackAnswer{}, Handle: a.receive(kind),
		})
	}
	return append(routes, httpapi.Route{
		Method: "POST", Path: "/webhooks/billmanager/payment", Hosts: httpapi.OnEvery, Access: httpapi.AccessPublic,
		Summary: "A payment reported by the bill manager", BodyLimit: callbackBodyLimit, Response: billManagerAnswer{},
		Handle: a.receive("billmanager_payment"),
	})
}

// receive stores a callback and answers at once; a job processes it later.
func (a Webhooks) receive(kind string) func(context.Context, *httpapi.Call) error {
	return func(ctx context.Context, c *httpapi.Call) error {
		answer, err := a.Receiver.Receive(ctx, kind, c.Param("token"), c.IP, c.Body(), func(gateway string) error {
			return c.CountWebhook(ctx, gateway, kind)
		})
		if err != nil {
			return err
		}
		return c.Send(200, answer)
	}
}
