package httpapi

import (
	"encoding/json"
	"errors"

	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Amount is money in a request: a JSON number in major units, such as 1500.50, without a currency: the handler knows
// it. The zero value is 0.
type Amount struct{ text string }

// errNotNumber is shown to the client behind the field's name; a JSON text such as "1.50" gives it, too.
var errNotNumber = errors.New("an amount is a number without exponent")

// UnmarshalJSON keeps the digits as they were sent. They are never converted to a float, so the amount stays exact.
func (a *Amount) UnmarshalJSON(raw []byte) error {
	var n json.Number
	if len(raw) == 0 || raw[0] == '"' || json.Unmarshal(raw, &n) != nil {
		return errNotNumber
	}
	a.text = n.String()
	return nil
}

// In gives the amount in a currency. More decimals than the currency has, an exponent or a number out of range add a
// fault of the named field; the amount is then of no use.
func (a Amount) In(currency money.Currency, name string, faults *failure.Faults) money.Amount {
	return a.Figure().In(currency, name, faults)
}

// Figure gives the amount to a use case that reads the currency itself.
func (a Amount) Figure() usecases.Figure { return usecases.Figure(a.text) }
