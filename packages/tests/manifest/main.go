// SPDX-License-Identifier: MIT OR Apache-2.0

// Command manifest reads a DaemonSet from standard input the way Kubernetes' API server
// does with field validation "Strict": unknown and repeated fields are errors, defaults are
// filled in, and the server's own validation has the last word.
package main

import (
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	"k8s.io/kubernetes/pkg/apis/apps/validation"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	core "k8s.io/kubernetes/pkg/apis/core/validation"
)

func main() {
	if err := check(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	strict := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict)
	object, kind, err := strict.UniversalDecoder().Decode(text, nil, nil)
	if err != nil {
		return err
	}
	set, ok := object.(*apps.DaemonSet)
	if !ok {
		return fmt.Errorf("%s is no DaemonSet", kind)
	}
	// The server fills in the namespace of who asks.
	set.Namespace = "default"
	if errs := validation.ValidateDaemonSet(set, core.PodValidationOptions{}); len(errs) > 0 {
		return errs.ToAggregate()
	}
	fmt.Printf("%s %s: %d container(s), %d volumes\n", kind.GroupVersion(), kind.Kind,
		len(set.Spec.Template.Spec.Containers), len(set.Spec.Template.Spec.Volumes))
	return nil
}
