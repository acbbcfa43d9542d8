// Holds the numbers and types of cublaslt_api.h against NVIDIA's header: compiles if they agree.
#include <cublasLt.h>

#include <cstdio>
#include <type_traits>

#include "cuda/matmul/cublaslt_api.h"

namespace lt = opcast_ops::cublaslt;

static_assert(lt::kF32 == CUDA_R_32F && lt::kF16 == CUDA_R_16F && lt::kBf16 == CUDA_R_16BF);
static_assert(lt::kF8E4m3 == CUDA_R_8F_E4M3 && lt::kCompute32F == CUBLAS_COMPUTE_32F);
static_assert(lt::kTransposed == CUBLAS_OP_T);
static_assert(lt::kOuterVectors == CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F);
static_assert(lt::kInComputeType == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);

static_assert(lt::kTransA == CUBLASLT_MATMUL_DESC_TRANSA);
static_assert(lt::kTransB == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(lt::kEpilogue == CUBLASLT_MATMUL_DESC_EPILOGUE);
static_assert(lt::kBiasPointer == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(lt::kBiasType == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
static_assert(lt::kAScalePointer == CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
static_assert(lt::kBScalePointer == CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
static_assert(lt::kAScaleMode == CUBLASLT_MATMUL_DESC_A_SCALE_MODE);
static_assert(lt::kBScaleMode == CUBLASLT_MATMUL_DESC_B_SCALE_MODE);

static_assert(lt::kBatchCount == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(lt::kBatchStride == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);

static_assert(lt::kMaxWorkspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(lt::kReductionSchemes == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
static_assert(lt::kAlignmentA == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(lt::kAlignmentB == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(lt::kAlignmentC == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(lt::kAlignmentD == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);

static_assert(lt::kPlain == CUBLASLT_EPILOGUE_DEFAULT);
static_assert(lt::kBias == CUBLASLT_EPILOGUE_BIAS);
static_assert(lt::kSumsOfB == CUBLASLT_EPILOGUE_BGRADB);

static_assert(sizeof(lt::Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(lt::Found) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(lt::Found, workspace) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(lt::Found, status) == offsetof(cublasLtMatmulHeuristicResult_t, state));

// Whether a function of ours takes as many arguments, of the same sizes, as NVIDIA's.
template <class Ours, class Theirs>
struct Alike;
template <class R, class... Ours, class S, class... Theirs>
struct Alike<R (*)(Ours...), S (*)(Theirs...)> {
  template <class A, class B>
  static constexpr bool kPair =
      sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
  static constexpr bool kValue = sizeof(R) == sizeof(S) && (kPair<Ours, Theirs> && ...);
};
#define EXPECT_ALIKE(ours, theirs) \
  static_assert(Alike<decltype(lt::Api::ours), decltype(&theirs)>::kValue)
EXPECT_ALIKE(get_version, cublasLtGetVersion);
EXPECT_ALIKE(create, cublasLtCreate);
EXPECT_ALIKE(desc_create, cublasLtMatmulDescCreate);
EXPECT_ALIKE(desc_destroy, cublasLtMatmulDescDestroy);
EXPECT_ALIKE(desc_set, cublasLtMatmulDescSetAttribute);
EXPECT_ALIKE(layout_create, cublasLtMatrixLayoutCreate);
EXPECT_ALIKE(layout_destroy, cublasLtMatrixLayoutDestroy);
EXPECT_ALIKE(layout_set, cublasLtMatrixLayoutSetAttribute);
EXPECT_ALIKE(preference_create, cublasLtMatmulPreferenceCreate);
EXPECT_ALIKE(preference_destroy, cublasLtMatmulPreferenceDestroy);
EXPECT_ALIKE(preference_set, cublasLtMatmulPreferenceSetAttribute);
EXPECT_ALIKE(find, cublasLtMatmulAlgoGetHeuristic);
EXPECT_ALIKE(multiply, cublasLtMatmul);

int main() { std::puts("all agree"); }
