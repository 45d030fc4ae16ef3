package httpapi_test

import (
	"encoding/json"
	"testing"
)

// client is a subscriber as the API shows it.
type client struct {
	ID, AccountNumber, FirstName, LastName, Phone, Status, Currency string
	Email, ExternalRef                                              *string
	Tags                                                            []string
	Balance, Credit                                                 json.Number
	Location                                                        *struct{ Latitude, Longitude float64 }
}

// register adds a subscriber to Acme.
func (k *ispKit) register(t *testing.T, as string, body map[string]any) client {
	t.Helper()
	var c client
	k.want(t, 201, "", post(as, "/subscribers", body)).Into(t, &c)
	return c
}

// amina is a subscriber's body.
func amina() map[string]any {
	return map[string]any{
		"firstName": "Amina", "lastName": "Wanjiru Otieno", "phone": "0712345678", "email": "Amina@Mail.test",
		"tags": []string{"vip", " vip", "estate 4"}, "location": map[string]any{"latitude": -1.28, "longitude": 36.82},
	}
}

// planBody is a plan of 1,500.50 for a period.
func planBody(code, mode, period string) map[string]any {
	return map[string]any{
		"code": code, "name": "Home 10", "kind": "pppoe", "price": json.Number("1500.50"), "currency": "KES",
		"billing": map[string]any{"mode": mode, "period": period}, "rates": map[string]any{"down": 10000, "up": 5000},
	}
}

// plan makes a plan at Acme.
func (k *ispKit) plan(t *testing.T, as, code, mode, period string) string {
	t.Helper()
	var p struct{ ID string }
	k.want(t, 201, "", post(as, "/plans", planBody(code, mode, period))).Into(t, &p)
	return p.ID
}
