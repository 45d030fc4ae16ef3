package identityapi_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
)

// ispKit is the platform without money, with what these tests ask of it.
type ispKit struct{ *isptest.Kit }

// newISPKit starts it.
func newISPKit(t *testing.T) *ispKit {
	t.Helper()
	return &ispKit{isptest.New(t)}
}
