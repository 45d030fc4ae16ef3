package identityapi_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
)

// ispKit adds the helpers of these tests to the platform without money.
type ispKit struct{ *isptest.Kit }

// newISPKit starts a kit that stops with the test.
func newISPKit(t *testing.T) *ispKit {
	t.Helper()
	return &ispKit{isptest.New(t)}
}
