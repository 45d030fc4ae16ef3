package mobilemoney

import (
	"context"
	"fmt"
)

// The provider's paths. Source: docs/facts/mobile-money.md#paths, docs/rules/payments.md#provider-paths.
const (
	pathPrompt   = "/mpesa/stkpush/v1/processrequest"
	pathQuery    = "/mpesa/stkpushquery/v1/query"
	pathRegister = "/mpesa/c2b/v2/registerurl"
	pathStatus   = "/mpesa/transactionstatus/v1/query"
	pathReversal = "/mpesa/reversal/v1/request"

	pathPullRegister = "/pulltransactions/v1/register"
	pathPull         = "/pulltransactions/v1/query"
)

// Client makes the provider's calls with tokens from a TokenSource. Safe for concurrent use.
type Client struct {
	endpoint *Endpoint
	tokens   TokenSource
}

// New makes a client of one host; nothing is called yet.
func New(endpoint *Endpoint, tokens TokenSource) *Client {
	return &Client{endpoint: endpoint, tokens: tokens}
}

// Ready fails with failure.Unavailable and RetryAfter while the breaker is open. Callers ask before they record an
// attempt (docs/rules/payments.md#open-breaker).
func (c *Client) Ready() error {
	err := c.endpoint.guard.Ready(BreakerKind, c.endpoint.host)
	if err == nil {
		return nil
	}
	return unavailable(err)
}

// authorised posts with a shared token. When the provider refuses the token, the token is dropped and the request sent
// once more with a new one. That is safe for a prompt too: the provider checks the token before it acts.
func (c *Client) authorised(ctx context.Context, operation, path string, creds Credentials, body any) result {
	return c.calls(ctx, creds, call{operation: operation, path: path, body: body})
}

// calls is authorised for a request with headers of its own.
func (c *Client) calls(ctx context.Context, creds Credentials, q call) result {
	token, err := c.tokens.Token(ctx, creds)
	if err != nil {
		return result{err: fmt.Errorf("get token: %w", err)}
	}
	res := c.endpoint.post(ctx, token, q)
	if res.err != nil || !res.invalidToken() {
		return res
	}
	c.tokens.Drop(ctx, creds, token)
	if token, err = c.tokens.Token(ctx, creds); err != nil {
		return result{err: fmt.Errorf("get token again: %w", err)}
	}
	return c.endpoint.post(ctx, token, q)
}
