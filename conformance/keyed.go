package conformance

import "github.com/opcast/opcast/internal/ndarray"

var threadsCheck = Check{
	ID: "threads", Group: groupEndurance,
	Doc:   "calls of several threads at once, right and wrong ones, give what they give one after the other",
	Needs: hasThreads,
	Run:   checkThreads,
}

var forkCheck = Check{
	ID: "fork", Group: groupEndurance,
	Doc:   "a child that is forked after import and calls gives the same bits and the same errors",
	Needs: hasChildren,
	Run:   checkChild("fork"),
}

var spawnCheck = Check{
	ID: "spawn", Group: groupEndurance,
	Doc:   "a child that is spawned gives the same bits and the same errors",
	Needs: hasChildren,
	Run:   checkChild("spawn"),
}

var leaksCheck = Check{
	ID: "leaks", Group: groupEndurance,
	Doc:   "memory, objects and references are flat over 10,000 calls and 10,000 refused ones; of slow calls as many as fit in 0.2 s, at least 300",
	Needs: hasProbe(groupEndure, "leaks"),
	Run:   checkLeaks(0.2),
}

var leaksAllCheck = Check{
	ID: "leaks-all", Group: groupEndurance,
	Doc:     "memory, objects and references are flat over 10,000 calls and 10,000 refused ones, however long that takes",
	Profile: profileExtended,
	Needs:   hasProbe(groupEndure, "leaks"),
	Run:     checkLeaks(0),
}

var copiesCheck = Check{
	ID: "copies", Group: groupEndurance,
	Doc:     "two copies of the library in one process give the same bits and do not disturb each other",
	Needs:   isCopied,
	Foreign: aboutGenerated,
	Run:     checkCopies,
}

var pairsCheck = Check{
	ID: "pairs", Group: groupAcross,
	Doc:     "functions of two frameworks differ by no more than each may from the reference",
	Through: throughFunctions,
	Run:     covered(checkPairs),
}

var randomShapesCheck = Check{
	ID: "random-shapes", Group: groupShapes,
	Doc: "random sizes, ranks, dtypes, attrs, layouts and optional inputs give what the reference gives; a failing call is shrunk",
	Run: checkRandomShapes(1),
}

var randomShapesMoreCheck = Check{
	ID: "random-shapes-more", Group: groupShapes,
	Doc:     "the same, many times more",
	Profile: profileExtended,
	Run:     checkRandomShapes(shapesMore),
}

var valueCheck = Check{
	ID: "value", Group: groupValues,
	Doc: "results are those of the float64 reference within the derived tolerance",
	Run: checkValue,
}

var specialValuesCheck = Check{
	ID: "special-values", Group: groupValues,
	Doc: "NaN, infinities, -0, denormals and the largest number go where the reference says",
	Run: checkSpecials,
}

var magnitudesCheck = Check{
	ID: "magnitudes", Group: groupValues,
	Doc: "large inputs do not overflow on the way, denormal ones are not flushed",
	Run: checkMagnitudes,
}

var attrsCheck = Check{
	ID: "attrs", Group: groupValues,
	Doc:   "every attr value gives what the reference gives",
	Needs: hasAttrs,
	Run:   covered(checkAttrs),
}

var defaultsCheck = Check{
	ID: "defaults", Group: groupValues,
	Doc:   "a default given explicitly changes no bit, nor does an int for a float",
	Needs: hasDefaults,
	Run:   covered(checkDefaults),
}

var optionalCheck = Check{
	ID: "optional", Group: groupValues,
	Doc:   "an optional input left out is a neutral one",
	Needs: hasOptional,
	Run:   covered(checkOptional),
}

var keywordsCheck = Check{
	ID: "keywords", Group: groupValues,
	Doc:     "arguments by position and by keyword, in any order, give the same bits",
	Needs:   takesKeywords,
	Foreign: Foreign{Library: aboutGenerated.Library, Functions: "its parameters are those that its author gave it"},
	Run:     covered(checkKeywords),
}

var repeatedCheck = Check{
	ID: "repeated", Group: groupValues,
	Doc:   "two runs give the same bits",
	Needs: isDeterministic,
	Run:   covered(checkRepeated),
}

var contentsCheck = Check{
	ID: "contents", Group: groupValues,
	Doc:   "values at the ends of their declared range, and ragged rows of all kinds",
	Needs: hasContents,
	Run:   covered(checkContents),
}

var contentsRefusedCheck = Check{
	ID: "contents-refused", Group: groupValues,
	Doc:     "with NAME_DEBUG=1, values outside of their range and descending ones are refused, and others compute",
	Needs:   looked,
	Foreign: aboutGenerated,
	Run:     checkContentsRefused,
}

var variantsCheck = Check{
	ID: "variants", Group: groupValues,
	Doc:     "a kernel that must not take a call refuses it, and dispatch runs another",
	Needs:   hasVariants,
	Foreign: Foreign{Library: "the library does not tell of kernels: it has no _opcast_force", Functions: aboutGenerated.Functions},
	Run:     checkVariants,
}

var savedCheck = Check{
	ID: "saved", Group: groupValues,
	Doc:     "what only a gradient needs changes no other result",
	Needs:   hasSaved,
	Foreign: Foreign{Functions: aboutGenerated.Functions},
	Run:     covered(checkSaved),
}

var splitCheck = Check{
	ID: "split", Group: groupValues,
	Doc:     "parts of the inputs give the bits of parts of the results",
	Needs:   hasParallel,
	Foreign: Foreign{Functions: "parts give the bits of parts in generated collections; values are judged by the reference"},
	Run:     checkSplit,
}

var shapeCheck = Check{
	ID: "shape", Group: groupShapes,
	Doc: "shapes and dtypes are the inferred ones, by exactly one kernel launch",
	Run: checkShape,
}

var rankCheck = Check{
	ID: "rank", Group: groupShapes,
	Doc:   "any number of leading dimensions",
	Needs: hasBatch,
	Run:   ofKernels(checkRank),
}

var sizesCheck = Check{
	ID: "sizes", Group: groupShapes,
	Doc: "size 1, primes, one past a tile, and long rows",
	Run: ofKernels(checkSizes),
}

var dtypeCombinationsCheck = Check{
	ID: "dtype-combinations", Group: groupDTypes,
	Doc: "every allowed choice of dtypes runs and has the declared output dtypes",
	Run: checkCombinations,
}

var dtypeRefusedCheck = Check{
	ID: "dtype-refused", Group: groupDTypes,
	Doc: "every other dtype raises TypeError, in the words of the definition",
	Run: checkRefused,
}

var zeroSizeCheck = Check{
	ID: "zero-size", Group: groupZero,
	Doc:   "each dimension may be zero",
	Needs: hasDims,
	Run:   covered(checkZero),
}

var inputsUnchangedCheck = Check{
	ID: "inputs-unchanged", Group: groupAliasing,
	Doc:     "inputs keep their bytes",
	Through: throughAdaptors,
	Run:     covered(checkUnchanged),
}

var mutatedCheck = Check{
	ID: "mutated", Group: groupAliasing,
	Doc:     "overwritten inputs change in place and are the results",
	Through: throughAdaptors,
	Needs:   hasMutated,
	Run:     covered(checkMutated),
}

var sideBySideCheck = Check{
	ID: "side-by-side", Group: groupAliasing,
	Doc:     "overwritten columns of one buffer do not disturb each other",
	Through: throughAdaptors,
	Needs:   hasMutated,
	Run:     covered(checkSideBySide),
}

var freshOutputsCheck = Check{
	ID: "fresh-outputs", Group: groupAliasing,
	Doc:     "outputs share memory with nothing",
	Through: throughAdaptors,
	Run:     covered(checkFresh),
}

var sameObjectCheck = Check{
	ID: "same-object", Group: groupAliasing,
	Doc:     "one array as two arguments is two equal ones, or refused where one is overwritten",
	Through: throughAdaptors,
	Run:     covered(checkSameObject),
}

var versionCheck = Check{
	ID: "version", Group: groupAliasing,
	Doc:     "autograd learns what was written",
	Through: throughAdaptors,
	Needs:   about("version"),
	Run:     covered(checkMemory("version")),
}

var staleCheck = Check{
	ID: "stale", Group: groupAliasing,
	Doc:     "a backward pass refuses what was overwritten since",
	Through: throughAdaptors,
	Needs:   about("stale"),
	Foreign: Foreign{Library: aboutGenerated.Library, Functions: "its gradient is its author's, not that of the definition"},
	Run:     covered(checkMemory("stale")),
}

var gradientWrittenCheck = Check{
	ID: "gradient-written", Group: groupAliasing,
	Doc:     "what a gradient flows to is overwritten only while gradients are off",
	Through: throughAdaptors,
	Needs:   about("gradient"),
	Foreign: Foreign{Library: aboutGenerated.Library, Functions: "its gradient is its author's, not that of the definition"},
	Run:     covered(checkMemory("gradient")),
}

var unwritableCheck = Check{
	ID: "unwritable", Group: groupAliasing,
	Doc:     "memory that no kernel can write is refused in the words of its fault",
	Through: throughAdaptors,
	Needs:   about("written"),
	Foreign: aboutGenerated,
	Run:     covered(checkMemory("written")),
}

var donationCheck = Check{
	ID: "donation", Group: groupAliasing,
	Doc:     "results lie in donated memory, and in no other",
	Through: throughAdaptors,
	Needs:   about("donation"),
	Run:     covered(checkMemory("donation")),
}

var scratchCheck = Check{
	ID: "scratch", Group: groupAliasing,
	Doc:     "work space may hold anything, and nothing around it is written",
	Needs:   hasScratch,
	Foreign: Foreign{Functions: aboutGenerated.Functions},
	Run:     covered(checkScratch),
}

var outCheck = Check{
	ID: "out", Group: groupAliasing,
	Doc:     "out= is filled completely, is the result, and nothing around it is written",
	Through: throughAdaptors,
	Needs:   outputsGiven,
	Foreign: Foreign{Functions: "its parameters are those that its author gave it"},
	Run:     covered(checkOut),
}

var misalignedCheck = Check{
	ID: "misaligned", Group: groupStrides,
	Doc:     "arrays one element beside the usual alignment give the same bits, by a kernel that takes them",
	Through: throughAdaptors,
	Needs:   strided,
	Run:     covered(checkMisaligned),
}

var notCopiedCheck = Check{
	ID: "not-copied", Group: groupStrides,
	Doc:     "what a kernel may read or write as it lies, it gets as it lies: addresses are the caller's",
	Through: throughAdaptors,
	Needs:   watches("pointers", nil),
	Foreign: aboutGenerated,
	Run:     covered(checkNotCopied),
}

var outputStridesCheck = Check{
	ID: "output-strides", Group: groupStrides,
	Doc:     "results are dense whatever the strides of inputs, and those without data have the same strides",
	Through: throughAdaptors,
	Needs:   stridedResults,
	Foreign: aboutGenerated,
	Run:     checkOutputStrides,
}

var farApartCheck = Check{
	ID: "far-apart", Group: groupStrides,
	Doc:      "rows whose distance needs 64 bits give what near ones give",
	Profile:  profileExtended,
	Through:  throughAdaptors,
	HostOnly: "a device provides all memory that is asked for, and rows so far apart need more than it has",
	Needs:    watches("far", strided),
	Foreign:  aboutGenerated,
	Run:      covered(checkFarApart),
}

var errorsCheck = Check{
	ID: "errors", Group: groupErrors,
	Doc: "every broken rule raises its class and text",
	Run: checkErrors,
}

var callShapeCheck = Check{
	ID: "call-shape", Group: groupErrors,
	Doc:     "unknown and surplus arguments raise TypeError",
	Needs:   takesKeywords,
	Foreign: Foreign{Library: aboutGenerated.Library, Functions: "its parameters are those that its author gave it"},
	Run:     checkCallShape,
}

var precedenceCheck = Check{
	ID: "precedence", Group: groupErrors,
	Doc:     "of two faults the documented order reports one",
	Foreign: Foreign{Library: "the words of its errors are its author's", Functions: "the words of its errors are its author's"},
	Run:     checkPrecedence,
}

var sideEffectsCheck = Check{
	ID: "side-effects", Group: groupErrors,
	Doc: "a refused call changes nothing, and the next call works",
	Run: checkSideEffects,
}

var warningsCheck = Check{
	ID: "warnings", Group: groupErrors,
	Doc:     "a deprecated op says so once, at the line of its caller, and no other op warns",
	Needs:   watches("warnings", notBackend),
	Foreign: aboutGenerated,
	Run:     checkWarnings,
}

var malformedCheck = Check{
	ID: "malformed", Group: groupErrors,
	Doc:   "calls that no one should write end in an error, not in the end of the process",
	Needs: hasMalformed,
	Run:   checkMalformed,
}

var opCallCheck = Check{
	ID: "op-call", Group: groupErrors,
	Doc:     "unknown kinds and attrs, and wrong numbers of arrays, are refused in the words of the op",
	Needs:   byNumber,
	Foreign: aboutGenerated,
	Run:     checkOpCall,
}

var randomCallsCheck = Check{
	ID: "random-calls", Group: groupErrors,
	Doc:     "random calls raise what the rules say, or compute; the process lives and does not grow",
	Needs:   callsFromGo,
	Foreign: aboutGenerated,
	Run:     checkRandom,
}

var noDeviceCheck = Check{
	ID: "no-device", Group: groupErrors,
	Doc:     "arrays on a device that the machine lacks raise an error of ours",
	Needs:   isBackend,
	Foreign: aboutGenerated,
	Run:     checkNoDevice,
}

var noKernelCheck = Check{
	ID: "no-kernel", Group: groupErrors,
	Doc:           "without a kernel for the device, NotImplementedError names the devices that have one",
	WithoutKernel: true,
	Foreign:       aboutGenerated,
	Run:           checkNoKernel,
}

var devicesCheck = Check{
	ID: "devices", Group: groupErrors,
	Doc:     "results lie on the device of the arguments, and arrays on two devices are refused",
	Needs:   hasDevices,
	Foreign: aboutGenerated,
	Run:     covered(checkDevices),
}

var specialInputsCheck = Check{
	ID: "special-inputs", Group: groupErrors,
	Doc:   "special arrays give right results or an error of ours, never a crash",
	Needs: hasProbes,
	Run:   covered(checkSpecialInputs),
}

var bitsCheck = Check{
	ID: "bits", Group: groupAcross,
	Doc:     "the bits are those of the bare backend, eager and jitted",
	Needs:   notBackend,
	Foreign: comparedWithBackend,
	Run:     checkBits,
}

var denormalsCheck = Check{
	ID: "denormals", Group: groupAcross,
	Doc:     "denormal inputs give the bits of the bare backend",
	Needs:   notBackend,
	Foreign: comparedWithBackend,
	Run:     checkDenormals,
}

var errorAgreementCheck = Check{
	ID: "error-agreement", Group: groupAcross,
	Doc:     "errors are those of the bare backend",
	Needs:   notBackend,
	Foreign: comparedWithBackend,
	Run:     checkAgreement,
}

var chainCheck = Check{
	ID: "chain", Group: groupAcross,
	Doc:     "results pass to other frameworks through DLPack without a copy",
	Needs:   notBackend,
	Foreign: comparedWithBackend,
	Run:     checkChain,
}

var mixedCheck = Check{
	ID: "mixed", Group: groupAcross,
	Doc:     "arrays of several frameworks in one call give the bits of the bare backend",
	Needs:   byNumber,
	Foreign: comparedWithBackend,
	Run:     covered(checkMixed),
}

var signatureCheck = Check{
	ID: "signature", Group: groupAcross,
	Doc:     "names, order, kinds and defaults of parameters are the definition's",
	Needs:   takesKeywords,
	Foreign: Foreign{Library: aboutGenerated.Library, Functions: "its parameters are those that its author gave it"},
	Run:     checkSignature,
}

var oracleCheck = Check{
	ID: "oracle", Group: groupValues,
	Doc:     "a planted wrong result is found",
	Through: throughDefinition,
	Run:     checkOracle,
}

var independentCheck = Check{
	ID: "independent", Group: groupValues,
	Doc:     "the reference agrees with the author's independent formula",
	Through: throughDefinition,
	Needs:   hasIndependent,
	Run:     checkIndependent,
}

var samplesCheck = Check{
	ID: "samples", Group: groupValues,
	Doc:     "the author's samples are inputs of the op, of their shapes and ranges",
	Through: throughDefinition,
	Needs:   hasSamples,
	Run:     checkSamples,
}

var gradientCheck = Check{
	ID: "gradient", Group: groupValues,
	Doc:     "the gradient op's reference is the derivative of the op's",
	Through: throughDefinition,
	Needs:   hasGradient,
	Run:     checkGradient,
}

var faultCoverageCheck = Check{
	ID: "fault-coverage", Group: groupErrors,
	Doc:     "some wrong call breaks each rule",
	Through: throughDefinition,
	Run:     checkFaultCoverage,
}

var upToDateCheck = Check{
	ID: "up-to-date", Group: groupAcross,
	Doc:     "generated files are what the definitions give",
	Through: throughDefinition,
	Foreign: comparedWithBackend,
	Run:     checkUpToDate,
}

var abiCheck = Check{
	ID: "abi", Group: groupAcross,
	Doc:     "the built libraries export their entry points only, carry their names, and need what every system has",
	Through: throughDefinition,
	Foreign: comparedWithBackend,
	Run:     checkABI,
}

var sideStreamCheck = Check{
	ID: "side-stream", Group: groupStreams,
	Doc:     "a call on a side stream runs behind the producer of its arguments, without a wait",
	Through: throughAdaptors,
	Needs:   streamed("side"),
	Foreign: aboutGenerated,
	Run:     covered(checkStreams("side")),
}

var twoStreamsCheck = Check{
	ID: "two-streams", Group: groupStreams,
	Doc:     "calls on two streams do not disturb each other",
	Through: throughAdaptors,
	Needs:   streamed("two"),
	Foreign: aboutGenerated,
	Run:     covered(checkStreams("two")),
}

var graphCheck = Check{
	ID: "graph", Group: groupStreams,
	Doc:     "a captured call computes with the contents of its arguments when it is replayed",
	Through: throughAdaptors,
	Needs:   streamed("graph"),
	Foreign: aboutGenerated,
	Run:     covered(checkStreams("graph")),
}

var jitCheck = Check{
	ID: "jit", Group: groupTransform,
	Doc:     "compiled as a whole, forward and backward, it gives the same bits, and a second call compiles nothing",
	Through: throughAdaptors,
	Needs:   transforms,
	Foreign: transformsGenerated,
	Run:     covered(checkJit),
}

var inductorCheck = Check{
	ID: "inductor", Group: groupTransform,
	Doc:     "Inductor's programs give the same bits",
	Through: throughAdaptors,
	Needs:   offers("Inductor", transforms),
	Foreign: transformsGenerated,
	Run:     checkInductor,
}

var dynamicCheck = Check{
	ID: "dynamic", Group: groupTransform,
	Doc:     "one program serves every size of the leading and parallel dims",
	Through: throughAdaptors,
	Needs:   varies,
	Foreign: transformsGenerated,
	Run:     checkDynamic,
}

var exportCheck = Check{
	ID: "export", Group: groupTransform,
	Doc:     "an exported program that was saved and loaded gives the same bits, gradients too",
	Through: throughAdaptors,
	Needs:   varies,
	Foreign: transformsGenerated,
	Run:     checkExport,
}

var vmapOfGradCheck = Check{
	ID: "vmap-of-grad", Group: groupTransform,
	Doc:     "mapped gradients are the gradients of the slices, compiled or not",
	Through: throughAdaptors,
	Needs:   differentiates,
	Foreign: transformsGenerated,
	Run:     checkMapOfGrad,
}

var gradOfVmapCheck = Check{
	ID: "grad-of-vmap", Group: groupTransform,
	Doc:     "gradients of mapped calls are those of the slices, summed where an input is not mapped",
	Through: throughAdaptors,
	Needs:   differentiates,
	Foreign: transformsGenerated,
	Run:     checkGradOfMap,
}

var checkpointCheck = Check{
	ID: "checkpoint", Group: groupTransform,
	Doc:     "computing the results again in the backward pass changes no bit",
	Through: throughAdaptors,
	Needs:   differentiates,
	Foreign: transformsGenerated,
	Run:     checkCheckpoint,
}

var jacobianCheck = Check{
	ID: "jacobian", Group: groupTransform,
	Doc:     "jacrev gives the gradients of every element",
	Through: throughAdaptors,
	Needs:   differentiates,
	Foreign: transformsGenerated,
	Run:     checkJacobian,
}

var functionalCallCheck = Check{
	ID: "functional-call", Group: groupTransform,
	Doc:     "gradients through torch.func.functional_call are the same",
	Through: throughAdaptors,
	Needs:   offers("torch.func", differentiates),
	Foreign: transformsGenerated,
	Run:     checkFunctionalCall,
}

var scanCheck = Check{
	ID: "scan", Group: groupTransform,
	Doc:     "loops and their gradients give what the single calls give",
	Through: throughAdaptors,
	Needs:   offers("scan", transforms),
	Foreign: transformsGenerated,
	Run:     checkScan,
}

var x64Check = Check{
	ID: "x64", Group: groupTransform,
	Doc:     "64-bit types change no bit",
	Through: throughAdaptors,
	Needs:   offers("x64 mode", transforms),
	Foreign: transformsGenerated,
	Run:     covered(checkWide),
}

var gradCheck = Check{
	ID: "grad", Group: groupTransform,
	Doc:     "gradients have the bits of the gradient op fed with the cotangent, with and without each optional input",
	Through: throughAdaptors,
	Needs:   differentiates,
	Foreign: transformsGenerated,
	Run:     covered(checkGrad),
}

var gradSomeCheck = Check{
	ID: "grad-some", Group: groupTransform,
	Doc:     "gradients of some inputs are those of all",
	Through: throughAdaptors,
	Needs:   differentiates,
	Foreign: transformsGenerated,
	Run:     checkGradSome,
}

var gradCotangentsCheck = Check{
	ID: "grad-cotangents", Group: groupTransform,
	Doc:     "cotangents with strides, expanded or made by the framework give the same gradients",
	Through: throughAdaptors,
	Needs:   differentiates,
	Foreign: transformsGenerated,
	Run:     checkCotangents,
}

var gradFunctionalCheck = Check{
	ID: "grad-functional", Group: groupTransform,
	Doc:     "torch.func.vjp gives the same gradients",
	Through: throughAdaptors,
	Needs:   offers("torch.func", differentiates),
	Foreign: transformsGenerated,
	Run:     checkVJP,
}

var gradEmptyCheck = Check{
	ID: "grad-empty", Group: groupTransform,
	Doc:     "gradients of calls with an empty dimension have the right shapes, zeros where nothing is summed, and no launch for nothing",
	Through: throughAdaptors,
	Needs:   differentiates,
	Foreign: transformsGenerated,
	Run:     checkGradEmpty,
}

var gradSecondCheck = Check{
	ID: "grad-second", Group: groupTransform,
	Doc:     "a derivative that is not defined raises NotImplementedError, when it is asked for and not before",
	Through: throughAdaptors,
	Needs:   transforms,
	Foreign: transformsGenerated,
	Run:     checkSecond,
}

var forwardModeCheck = Check{
	ID: "forward-mode", Group: groupTransform,
	Doc:     "forward-mode derivatives raise NotImplementedError in every spelling",
	Through: throughAdaptors,
	Needs:   transforms,
	Foreign: transformsGenerated,
	Run:     checkForwardMode,
}

var abstractCheck = Check{
	ID: "abstract", Group: groupTransform,
	Doc:     "without data, shapes, dtypes, strides and devices are those of real results",
	Through: throughAdaptors,
	Needs:   transforms,
	Foreign: transformsGenerated,
	Run:     checkAbstract,
}

var dispatchModesCheck = Check{
	ID: "dispatch-modes", Group: groupTransform,
	Doc:     "dispatch modes see the op, and its gradient, by name",
	Through: throughAdaptors,
	Needs:   offers("dispatch modes", transforms),
	Foreign: transformsGenerated,
	Run:     checkModes,
}

var opcheckCheck = Check{
	ID: "opcheck", Group: groupTransform,
	Doc:     "PyTorch's own tests of custom ops pass, every one",
	Through: throughAdaptors,
	Needs:   offers("opcheck", transforms),
	Foreign: transformsGenerated,
	Run:     checkOpcheck,
}

var profileCheck = Check{
	ID: "profile", Group: groupTransform,
	Doc:     "a profile lists the op, and its gradient, by name and with the shapes of the inputs",
	Through: throughAdaptors,
	Needs:   offers("profiler of this kind", transforms),
	Foreign: transformsGenerated,
	Run:     checkProfile,
}

var autocastCheck = Check{
	ID: "autocast", Group: groupTransform,
	Doc:     "under autocast, inputs that share a dtype are cast to the widest",
	Through: throughAdaptors,
	Needs:   offers("autocast", transforms),
	Foreign: transformsGenerated,
	Run:     checkAutocast,
}

var transformedErrorsCheck = Check{
	ID: "transformed-errors", Group: groupTransform,
	Doc:     "wrong calls raise their class and text under every transformation that keeps them",
	Through: throughAdaptors,
	Needs:   transforms,
	Foreign: transformsGenerated,
	Run:     checkTransformedErrors,
}

var vmapCheck = Check{
	ID: "vmap", Group: groupTransform,
	Doc:     "mapped over any of its arguments, along the first or last axis, it gives the stacked results, by one launch where the definition says merged",
	Through: throughAdaptors,
	Needs:   transforms,
	Foreign: transformsGenerated,
	Run:     checkMap,
}

var vmapNestedCheck = Check{
	ID: "vmap-nested", Group: groupTransform,
	Doc:     "two maps over different arguments give the stacked results",
	Through: throughAdaptors,
	Needs:   transforms,
	Foreign: transformsGenerated,
	Run:     checkMapNested,
}

var vmapEmptyCheck = Check{
	ID: "vmap-empty", Group: groupTransform,
	Doc:     "a map over nothing gives empty results and launches nothing",
	Through: throughAdaptors,
	Needs:   transforms,
	Foreign: transformsGenerated,
	Run:     checkMapEmpty,
}

var shardingCheck = Check{
	ID: "sharding", Group: groupTransform,
	Doc:      "on 2, 4 and 8 devices: no collective along a parallel dim, sums by one all-reduce, local parts, the bits of one device",
	Through:  throughAdaptors,
	HostOnly: "needs several devices, which are simulated on the host",
	Needs:    offers("sharding", transforms),
	Foreign:  transformsGenerated,
	Run:      checkSharding(false),
}

var shardingExplicitCheck = Check{
	ID: "sharding-explicit", Group: groupTransform,
	Doc:      "the same with explicit axes",
	Through:  throughAdaptors,
	HostOnly: "needs several devices, which are simulated on the host",
	Needs:    offers("sharding", transforms),
	Foreign:  transformsGenerated,
	Run:      checkSharding(true),
}

var sharding2dCheck = Check{
	ID: "sharding-2d", Group: groupTransform,
	Doc:      "the same on a mesh of 2 × 4 devices",
	Through:  throughAdaptors,
	HostOnly: "needs several devices, which are simulated on the host",
	Needs:    offers("sharding", transforms),
	Foreign:  transformsGenerated,
	Run:      checkMesh,
}

var shardingGatheredCheck = Check{
	ID: "sharding-gathered", Group: groupTransform,
	Doc:      "along any other dim, and along one of two that share an axis, parts are put together first and results are right",
	Through:  throughAdaptors,
	HostOnly: "needs several devices, which are simulated on the host",
	Needs:    offers("sharding", transforms),
	Foreign:  transformsGenerated,
	Run:      checkGathered,
}

var shardingUnevenCheck = Check{
	ID: "sharding-uneven", Group: groupTransform,
	Doc:      "parts of different sizes are put together first: what pads the smaller ones is in no result and no sum",
	Through:  throughAdaptors,
	HostOnly: "needs several devices, which are simulated on the host",
	Needs:    offers("sharding", transforms),
	Foreign:  transformsGenerated,
	Run:      checkUneven,
}

var shardMapCheck = Check{
	ID: "shard-map", Group: groupTransform,
	Doc:      "on the parts inside jax.shard_map, in a loop, and differentiated",
	Through:  throughAdaptors,
	HostOnly: "needs several devices, which are simulated on the host",
	Needs:    offers("sharding", transforms),
	Foreign:  transformsGenerated,
	Run:      checkShardMap,
}

var dtensorCheck = Check{
	ID: "dtensor", Group: groupTransform,
	Doc:      "DTensors on two processes have the placements that the definition gives, forward and backward, and the right values",
	Through:  throughAdaptors,
	HostOnly: "needs several devices, which are simulated on the host",
	Needs:    offers("DTensor", transforms),
	Foreign:  transformsGenerated,
	Run:      checkDTensor,
}

// valueChecks are about the numbers that calls give, and about the shapes and dtypes of results.
func valueChecks() []Check {
	return []Check{
		valueCheck,
		specialValuesCheck,
		magnitudesCheck,
		attrsCheck,
		defaultsCheck,
		optionalCheck,
		keywordsCheck,
		repeatedCheck,
		contentsCheck,
		variantsCheck,
		savedCheck,
		splitCheck,
		shapeCheck,
		rankCheck,
		sizesCheck,
		dtypeCombinationsCheck,
		dtypeRefusedCheck,
		zeroSizeCheck,
	}
}

// randomChecks are about calls that are made at random.
func randomChecks() []Check {
	return []Check{
		randomShapesCheck,
		randomShapesMoreCheck,
		randomCallsCheck,
	}
}

// memoryChecks are about where arrays lie and what happens to them there.
func memoryChecks() []Check {
	list := []Check{
		inputsUnchangedCheck,
		mutatedCheck,
		sideBySideCheck,
		freshOutputsCheck,
		sameObjectCheck,
		versionCheck,
		staleCheck,
		gradientWrittenCheck,
		unwritableCheck,
		donationCheck,
		scratchCheck,
		outCheck,
	}
	list = append(list, layoutChecks()...)
	return append(list, misalignedCheck, notCopiedCheck, farApartCheck)
}

// errorChecks are about calls that must be refused.
func errorChecks() []Check {
	return []Check{
		errorsCheck,
		callShapeCheck,
		precedenceCheck,
		sideEffectsCheck,
		warningsCheck,
		malformedCheck,
		opCallCheck,
		noDeviceCheck,
		noKernelCheck,
		devicesCheck,
		specialInputsCheck,
		contentsRefusedCheck,
	}
}

// acrossChecks compare callers with each other.
func acrossChecks() []Check {
	return []Check{
		bitsCheck,
		denormalsCheck,
		errorAgreementCheck,
		chainCheck,
		mixedCheck,
		signatureCheck,
		sideStreamCheck,
		twoStreamsCheck,
		graphCheck,
		pairsCheck,
	}
}

// endureChecks are about what surrounds a call: other threads, child processes, memory that stays.
func endureChecks() []Check {
	return []Check{
		threadsCheck,
		forkCheck,
		spawnCheck,
		leaksCheck,
		leaksAllCheck,
		copiesCheck,
	}
}

// transformChecks are about compiling, exporting and inspecting ops.
func transformChecks() []Check {
	return []Check{
		jitCheck,
		inductorCheck,
		dynamicCheck,
		exportCheck,
		scanCheck,
		x64Check,
		abstractCheck,
		dispatchModesCheck,
		opcheckCheck,
		profileCheck,
		autocastCheck,
		transformedErrorsCheck,
		outputStridesCheck,
	}
}

// mapChecks are about vmap.
func mapChecks() []Check {
	return []Check{
		vmapCheck,
		vmapNestedCheck,
		vmapEmptyCheck,
		vmapOfGradCheck,
		gradOfVmapCheck,
	}
}

// gradientChecks are about derivatives.
func gradientChecks() []Check {
	return []Check{
		gradCheck,
		gradSomeCheck,
		gradCotangentsCheck,
		gradFunctionalCheck,
		gradEmptyCheck,
		gradSecondCheck,
		forwardModeCheck,
		checkpointCheck,
		jacobianCheck,
		functionalCallCheck,
	}
}

// spreadChecks are about arrays that are divided over several devices.
func spreadChecks() []Check {
	return []Check{
		shardingCheck,
		shardingExplicitCheck,
		sharding2dCheck,
		shardingGatheredCheck,
		shardingUnevenCheck,
		shardMapCheck,
		dtensorCheck,
	}
}

// definitionChecks run once per op, through no adaptor.
func definitionChecks() []Check {
	return []Check{
		oracleCheck,
		independentCheck,
		samplesCheck,
		gradientCheck,
		faultCoverageCheck,
		upToDateCheck,
		abiCheck,
	}
}

// layoutChecks make one check of each layout that a view can have.
func layoutChecks() []Check {
	var list []Check
	for _, layout := range ndarray.Layouts {
		list = append(list, Check{
			ID: layout.Name, Group: groupStrides,
			Doc:     "a view that is " + layout.Name + " gives what its dense copy gives",
			Through: throughAdaptors, Run: covered(checkLayout(layout)),
		})
	}
	return list
}
