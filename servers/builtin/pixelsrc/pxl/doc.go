// Package pxl is the pixel engine: it reads documents of JSON5 objects (palettes,
// sprites, variants, compositions, animations, state rules) and draws them, pixel
// for pixel as their format says. It knows nothing of files, of MCP or of a deck.
//
// Parse reads a text into a Document and never fails; what is wrong becomes
// diagnostics with line, column, code and what to do. Document.Objects lists what
// there is, Document.Render draws one object, Document.Regions describes a sprite's
// regions, Document.Colours its palette, and Document.Check tells everything that can
// be said of a whole document.
//
// There is one pipeline for every kind of object: source → regions → sprite
// transforms → nine-slice → state rules → antialias → scale. Antialias that a file
// asks for is applied where a sprite stands alone or as a frame; in compositions it
// would break the cells. Two dialects share the pipeline: Documented, the default,
// draws everything the format guide teaches; Reference draws and ignores exactly what
// the reference engine does.
//
// A call works within budgets (budget.go) and the limits of document.go; what goes
// beyond them is left out with a "limit" diagnostic.
//
// # Choices where the format leaves one
//
//   - Equal z, evaluation order, "the first animation": the order of the text.
//   - A region's rotate is about pixel (0,0), clockwise; scale turns pixels into blocks.
//   - A looping keyframe animation is sampled at i/n of its time, one that plays once at
//     i/(n−1), so that its last key shows; the default timing function is linear; fps is
//     the sampling rate.
//   - Palette cycles that use neither sprite nor fps nor direction advance together, as in
//     the reference; with any of these every cycle runs at its own pace.
//   - Attachments hang by attach_in and attach_out of their sprites and are cut at the frame.
//   - A particle is drawn as the animation that it becomes, which is asked for by its
//     name: on 32 by 32 pixels, from the middle of the lower edge, ten frames a second,
//     for twice its longest life (12 to 64 frames), unless Bake says otherwise.
//   - User-defined transforms are checked and never drawn: the guide teaches none.
//   - The role and the relations of a pixel are those of the region on top.
//
// # Where the rules of the dialects are held
//
//	objects        TestDialectsReadObjects
//	regions        TestRegionModifiers
//	sprites        TestSpriteRules, TestStaircase
//	compositions   TestCompositionRules
//	animations     TestAnimationRules
//	particles      TestParticles
//	what both share  TestGeneratedDocumentsMatchTheReference, TestShapesAreDrawnAsThePublishedVectors,
//	                 TestTransforms, TestNineSlice, TestPalettes, TestPaletteCycles, TestTiming, TestSplitting, TestCorpus
//
// # Diagnostic codes
//
// The codes are those of validation; the names that descriptions of the reference use
// fall under them so:
//
//	parse.object                                     json_syntax, missing_type, unknown_type
//	palette.not-found, palette.builtin-not-found     missing_palette
//	palette.variable, colour.invalid                 invalid_color
//	token.unknown                                    undefined_token
//	sprite.size-missing, comp.size-unknown           missing_size
//	sprite.size-invalid                              invalid_size
//	sprite.no-regions                                empty_grid
//	path.invalid, fill.bad-reference                 invalid_shape
//	fill., shadow., except.unknown-region            unknown_region, forward_reference
//	sprite., animation., composition.duplicate       duplicate_name
//	sprite.source-missing, sprite.source-cycle       missing_source
//	variant.base-missing                             missing_base
//	transform.invalid, transform.failed              invalid_transform
//	sprite.not-found                                 missing_sprite
//	comp.unknown-key                                 undefined_symbol
//	comp.size-not-divisible, comp.map-size,
//	comp.sprite-exceeds-cell                         cell_size_mismatch
//	comp.unknown-blend                               invalid_blend
//	anim.no-frames                                   missing_frame
package pxl
