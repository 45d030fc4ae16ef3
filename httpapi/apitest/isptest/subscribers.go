package isptest

import (
	"encoding/json"
	"testing"
)

// Client is a subscriber as the API shows it.
type Client struct {
	ID, AccountNumber, FirstName, LastName, Phone, Status, Currency string
	Email, ExternalRef                                              *string
	Tags                                                            []string
	Balance, Credit                                                 json.Number
	Location                                                        *struct{ Latitude, Longitude float64 }
}

// Register adds a subscriber to Acme; a refusal ends the test.
func (k *Kit) Register(t *testing.T, as string, body map[string]any) Client {
	t.Helper()
	var c Client
	k.Want(t, 201, "", Post(as, "/subscribers", body)).Into(t, &c)
	return c
}

// Amina is the body that registers a subscriber. Two of the tags differ in a space only.
func Amina() map[string]any {
	return map[string]any{
		"firstName": "Amina", "lastName": "Wanjiru Otieno", "phone": "0712345678", "email": "Amina@Mail.test",
		"tags": []string{"vip", " vip", "estate 4"}, "location": map[string]any{"latitude": -1.28, "longitude": 36.82},
	}
}

// PlanBody is the body that creates a plan of KES 1,500.50 for one period.
func PlanBody(code, mode, period string) map[string]any {
	return map[string]any{
		"code": code, "name": "Home 10", "kind": "pppoe", "price": json.Number("1500.50"), "currency": "KES",
		"billing": map[string]any{"mode": mode, "period": period}, "rates": map[string]any{"down": 10000, "up": 5000},
	}
}

// Plan creates a plan of PlanBody at Acme and gives its id.
func (k *Kit) Plan(t *testing.T, as, code, mode, period string) string {
	t.Helper()
	var p struct{ ID string }
	k.Want(t, 201, "", Post(as, "/plans", PlanBody(code, mode, period))).Into(t, &p)
	return p.ID
}
