package paymentsapi_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest/moneytest"
)

// moneyKit is the platform with money, with what these tests ask of it.
type moneyKit struct{ *moneytest.Kit }

// newMoneyKit starts it.
func newMoneyKit(t *testing.T, o moneytest.Options) *moneyKit {
	t.Helper()
	return &moneyKit{moneytest.New(t, o)}
}
