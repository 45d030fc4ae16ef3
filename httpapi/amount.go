package httpapi

import (
	"encoding/json"
	"errors"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Amount is money in a request: a JSON number in major units, whose currency the handler knows. The zero value is 0.
type Amount struct{ text string }

// errNotNumber is told to the client with the field's name.
var errNotNumber = errors.New("an amount is a number without exponent")

// UnmarshalJSON keeps the digits as they came: no float stands between them and the ledger.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	var n json.Number
	if len(raw) == 0 || raw[0] == '"' || json.Unmarshal(raw, &n) != nil {
		return errNotNumber
	}
	a.text = n.String()
	return nil
}

// In is the amount in a currency; more decimals than it has, an exponent or a number out of range are a fault of the
// field.
func (a Amount) In(currency money.Currency, name string, faults *failure.Faults) money.Amount {
	return a.Figure().In(currency, name, faults)
}

// Figure is the amount for a use case, which finds the currency itself.
func (a Amount) Figure() usecases.Figure { return usecases.Figure(a.text) }
