package usecases

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/money"
)

// BasisPoints reads a decimal number of percent, such as "7.5", as basis points. More than two decimals add a fault of
// the named field.
func BasisPoints(percent, field string, faults *failure.Faults) int64 {
	rate, err := money.Parse(percent, percentUnit)
	faults.Check(err == nil, field, "must be a percentage with at most two decimals")
	return rate.Minor
}

// percentUnit makes money.Parse read a percentage: a currency with two decimals, whose minor units are then basis
// points.
const percentUnit = money.KES

// Figure is an amount in major units as a person wrote it, such as "1500.50", before its currency is known. "" is 0.
type Figure string

// In gives the figure in a currency. More decimals than the currency has, an exponent or a number out of range add a
// fault of the named field, and the amount is then of no use.
func (f Figure) In(currency money.Currency, field string, faults *failure.Faults) money.Amount {
	if f == "" {
		f = "0"
	}
	amount, err := money.Parse(string(f), currency)
	if err != nil {
		faults.Add(field, "must be a number with at most %d decimals", currency.Decimals())
	}
	return amount
}
